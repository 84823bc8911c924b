import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useEffect, useRef, useState } from 'react';
import { type Redemption, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { formatTime } from '../business/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { TextField } from '../forms/text-field.tsx';
import { useWrite } from '../rpc/write.ts';
import { clock } from '../session/clock.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.orders;

interface ReleaseProps {
  readonly redemption: Redemption;
}

/** The button that gives the use of a redemption back (design 13: a release); nothing once that was done. */
export function Release({ redemption }: ReleaseProps) {
  const { orderKey, releasedAt } = redemption;
  const [isOpen, setIsOpen] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const wasPressed = useRef(false);
  const isReleased = releasedAt !== undefined;
  // The keyboard goes on at the heading, because the button that was pressed is gone, or its whole row.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the button goes with the release.
  useEffect(() => {
    const section = place.current?.closest('section');
    return () => {
      if (wasPressed.current && section?.isConnected) section.querySelector('h2')?.focus();
      wasPressed.current = false;
    };
  }, [isReleased]);
  const ask = () => {
    wasPressed.current = true;
    setIsOpen(true);
  };
  return (
    <span ref={place}>
      {!isReleased && (
        <Button emphasis="quiet" aria-label={text.returnFor(orderKey)} onPress={ask}>
          {text.returnButton}
        </Button>
      )}
      {isOpen && !isReleased && <ReleaseDialog redemption={redemption} onClose={() => setIsOpen(false)} />}
    </span>
  );
}

/** Whether somebody else released it before, who may have given another reason. The page's clock is about right. */
function wasReleasedBefore(redemption: Redemption | undefined, sentAt: number): boolean {
  return redemption?.releasedAt !== undefined && timestampMs(redemption.releasedAt) < sentAt - clockToleranceMs;
}

const clockToleranceMs = 5_000;

function ReleaseDialog({
  redemption: { id: redemptionId, orderKey },
  onClose,
}: ReleaseProps & { readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  const sentAt = useRef(0);
  const release = useWrite(RedemptionService.method.release, ({ redemption }) => ({
    text: wasReleasedBefore(redemption, sentAt.current)
      ? text.returnedBefore(orderKey, formatTime(redemption?.releasedAt))
      : text.returnedNow(orderKey),
  }));
  const send = async () => {
    sentAt.current = clock.now();
    const { failure } = await release.send({ redemptionId, reason: reason.trim() });
    if (failure === undefined) onClose();
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
          label={text.reason}
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
