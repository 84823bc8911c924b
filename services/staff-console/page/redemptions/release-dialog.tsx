import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useRef, useState } from 'react';
import { type Redemption, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { formatTime } from '../business/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { useWrite } from '../rpc/write.ts';
import { clock } from '../session/clock.ts';
import { Dialog } from '../ui/dialog.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.orders;
// How far the page's clock may be off, in ms.
const clockToleranceMs = 5_000;

interface ReleaseDialogProps {
  readonly redemption: Redemption;
  onClose(): void;
  onDone(): void;
}

/** Gives the use of a redemption back (design 13: a release), for a reason. */
export function ReleaseDialog({ redemption: { id: redemptionId, orderKey }, onClose, onDone }: ReleaseDialogProps) {
  const [reason, setReason] = useState('');
  const sentAt = useRef(0);
  const release = useWrite(RedemptionService.method.release, ({ redemption: { releasedAt } = {} }) => ({
    // Somebody else may have released it before, for another reason.
    text:
      releasedAt !== undefined && timestampMs(releasedAt) < sentAt.current - clockToleranceMs
        ? text.returnedBefore(orderKey, formatTime(releasedAt))
        : text.returnedNow(orderKey),
  }));
  const send = async () => {
    sentAt.current = clock.now();
    const { failure } = await release.send({ redemptionId, reason: reason.trim() });
    if (failure === undefined) onDone();
  };
  return (
    <Dialog title={text.returnUse(isolate(orderKey))} isOpen onClose={onClose}>
      <EditForm
        action={text.return}
        pending={text.returning}
        write={release}
        onSend={() => void send()}
        onCancel={onClose}
      >
        <p>{text.returnMeans}</p>
        <TextField
          label={words.fields.reason}
          hint={text.reasonHint}
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
