import { type ReactNode, useEffect, useRef, useState } from 'react';
import { type Redemption, RedemptionService } from '../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { Time } from '../business/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { useWrite } from '../rpc/write.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isolate } from '../ui/text.ts';

interface ReleaseProps {
  readonly redemption: Redemption;
}

/** Shows when a redemption was released or, until then, the button that releases it. */
export function Release({ redemption }: ReleaseProps): ReactNode {
  const { id, releasedAt } = redemption;
  const [isOpen, setIsOpen] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const wasPressed = useRef(false);
  const isReleased = releasedAt !== undefined;
  // The keyboard continues here, because the button that was pressed is gone.
  useEffect(() => {
    if (isReleased && wasPressed.current) place.current?.focus();
  }, [isReleased]);
  const ask = () => {
    wasPressed.current = true;
    setIsOpen(true);
  };
  return (
    <span ref={place} tabIndex={-1}>
      {isReleased ? (
        <Time at={releasedAt} />
      ) : (
        <Button aria-label={`Release…: redemption ${id}`} onPress={ask}>
          Release…
        </Button>
      )}
      {isOpen && !isReleased && <ReleaseDialog redemption={redemption} onClose={() => setIsOpen(false)} />}
    </span>
  );
}

function ReleaseDialog({
  redemption: { id: redemptionId, orderKey },
  onClose,
}: ReleaseProps & { readonly onClose: () => void }): ReactNode {
  const [reason, setReason] = useState('');
  const release = useWrite(RedemptionService.method.release, () => ({ text: `Redemption ${redemptionId} released` }));
  const send = async () => {
    const { failure } = await release.send({ redemptionId, reason: reason.trim() });
    if (failure === undefined) onClose();
  };
  return (
    <Dialog title={`Release redemption ${redemptionId}`} isOpen onClose={onClose}>
      <EditForm action="Release" pending="Releasing…" write={release} onSend={() => void send()} onCancel={onClose}>
        <p>The order {isolate(orderKey)} gives its use of the coupon back. A release can’t be undone.</p>
        <TextField
          label="Reason"
          hint="If you like. It stands in the audit trail."
          name="reason"
          maxLength={200}
          value={reason}
          onChange={setReason}
          autoFocus
        />
      </EditForm>
    </Dialog>
  );
}
