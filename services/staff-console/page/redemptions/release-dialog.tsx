import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useRef } from 'react';
import { type Redemption, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { formatTime } from '../business/time.tsx';
import { ReasonDialog } from '../forms/reason-dialog.tsx';
import { useWrite } from '../rpc/write.ts';
import { clock } from '../session/clock.ts';
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
  const sentAt = useRef(0);
  const write = useWrite(RedemptionService.method.release, ({ redemption: { releasedAt } = {} }) => ({
    // Somebody else may have released it before, for another reason.
    text:
      releasedAt !== undefined && timestampMs(releasedAt) < sentAt.current - clockToleranceMs
        ? text.returnedBefore(orderKey, formatTime(releasedAt))
        : text.returnedNow(orderKey),
  }));
  const send = async (reason: string) => {
    sentAt.current = clock.now();
    const { failure } = await write.send({ redemptionId, reason });
    if (failure === undefined) onDone();
  };
  return (
    <ReasonDialog
      {...{ write, onClose }}
      title={text.returnUse(isolate(orderKey))}
      action={text.return}
      pending={text.returning}
      onSend={(reason) => void send(reason)}
    >
      <p>{text.returnMeans}</p>
    </ReasonDialog>
  );
}
