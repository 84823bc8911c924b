import { useState } from 'react';
import { type ClaimResponse, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { EditForm } from '../../forms/edit-form.tsx';
import type { Option } from '../../forms/pick-many.tsx';
import { UserPicker } from '../../lookup/pickers.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';

const text = words.coupons.reserved;

interface ClaimDialogProps {
  readonly secretCode: string;
  onClaimed(answer: ClaimResponse): void;
  onClose(): void;
}

/** Asks for which customer a reserved coupon is claimed, and claims it. */
export function ClaimDialog({ secretCode, onClaimed, onClose }: ClaimDialogProps) {
  const [chosen, setChosen] = useState<readonly Option[]>([]);
  const [isMissing, setIsMissing] = useState(false);
  const claim = useWrite(RedemptionService.method.claim, () => ({ text: text.claimDone(secretCode) }));
  const [user] = chosen;
  const send = async () => {
    setIsMissing(user === undefined);
    if (user === undefined) return;
    const { answer } = await claim.send({ secretCode, userId: user.id });
    if (answer !== undefined) onClaimed(answer);
  };
  return (
    <Dialog title={text.claimTitle(isolate(secretCode))} isOpen onClose={onClose}>
      <EditForm action={text.claim} pending={text.claiming} write={claim} onSend={() => void send()} onCancel={onClose}>
        <p>{text.claimExplained}</p>
        <UserPicker
          autoFocus
          label={text.customer}
          chosen={chosen}
          onChange={(options) => setChosen(options.slice(-1))}
          problem={isMissing && user === undefined ? text.chooseCustomer : undefined}
        />
      </EditForm>
    </Dialog>
  );
}
