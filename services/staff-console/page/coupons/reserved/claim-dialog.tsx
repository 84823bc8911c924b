import { type ReactNode, useState } from 'react';
import { type ClaimResponse, RedemptionService } from '../../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import type { Option } from '../../forms/pick-many.tsx';
import { UserPicker } from '../../lookup/pickers.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { isolate } from '../../ui/text.ts';

interface ClaimDialogProps {
  readonly secretCode: string;
  onClaimed(answer: ClaimResponse): void;
  onClose(): void;
}

/** Asks for which user a reserved coupon is claimed, and claims it. */
export function ClaimDialog({ secretCode, onClaimed, onClose }: ClaimDialogProps): ReactNode {
  const [chosen, setChosen] = useState<readonly Option[]>([]);
  const [isMissing, setIsMissing] = useState(false);
  const claim = useWrite(RedemptionService.method.claim, () => ({ text: `Secret code ${secretCode} claimed` }));
  const [user] = chosen;
  const send = async () => {
    setIsMissing(user === undefined);
    if (user === undefined) return;
    const { answer } = await claim.send({ secretCode, userId: user.id });
    if (answer !== undefined) onClaimed(answer);
  };
  return (
    <Dialog title={`Claim ${isolate(secretCode)} for…`} isOpen onClose={onClose}>
      <EditForm action="Claim" pending="Claiming…" write={claim} onSend={() => void send()} onCancel={onClose}>
        <p>The user gets a coupon of their own with these terms. Nobody else can use the secret code then.</p>
        <UserPicker
          autoFocus
          label="User"
          chosen={chosen}
          onChange={(options) => setChosen(options.slice(-1))}
          problem={isMissing && user === undefined ? 'Choose a user.' : undefined}
        />
      </EditForm>
    </Dialog>
  );
}
