import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import { SlotBookingService } from '#gen/slot/v1/slot_booking_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { useNow } from '../../business/time.tsx';
import { dateInput } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { slotTime } from '../record/slot-time.ts';
import type { BookingDialogProps } from './cancel-dialog.tsx';
import { SlotChoice } from './slot-choice.tsx';

const text = words.slot.move;

/** Moves a booking to another slot, which can be undone. */
export function MoveDialog({ booking, onClose, onDone }: BookingDialogProps) {
  const { id: bookingId, slotId, units } = booking;
  const order = isolate(booking.orderKey);
  const now = useNow(20_000);
  const from = useQuery(SlotService.method.getSlotById, { id: slotId }).data?.slot;
  const [today, ofSlot] = [new Date(now), from?.deliveryTime && timestampDate(from.deliveryTime)].map(
    (date) => date && dateInput(date),
  );
  const [picked, setPicked] = useState<string>();
  const [chosen, setChosen] = useState<number>();
  const [refusal, setRefusal] = useState('');
  const { move } = SlotBookingService.method;
  const back = useWrite(move, ({ moved, message = '' }) => ({
    text: moved ? text.undone(order) : message,
    isProblem: !moved,
  }));
  const write = useWrite(move, ({ moved }) =>
    moved ? { text: text.done(order), undo: (): Promise<Undone> => back.send({ bookingId, slotId }) } : undefined,
  );
  const send = async () => {
    if (chosen === undefined) return setRefusal(text.choose);
    const { answer, failure } = await write.send({ bookingId, slotId: chosen });
    if (answer?.moved) return onDone();
    setRefusal(answer?.message ?? '');
    if (failure === undefined) setChosen(undefined);
  };
  const refused = { reason: '', code: Code.FailedPrecondition, title: refusal, advice: text.chooseOther, fields: {} };
  return (
    <Dialog title={text.title(order)} isOpen onClose={onClose}>
      <EditForm
        action={text.action}
        pending={text.pending}
        write={{ ...write, failure: write.failure ?? (refusal === '' ? undefined : refused) }}
        onSend={() => void send()}
        onCancel={onClose}
      >
        <p>{text.from(units, from === undefined ? '' : slotTime(from))}</p>
        <SlotChoice
          day={picked ?? [today ?? '', ofSlot ?? ''].toSorted().at(-1) ?? ''}
          onDay={(day) => {
            setPicked(day);
            setChosen(undefined);
          }}
          units={units}
          current={slotId}
          chosen={chosen}
          onChoose={(id) => {
            setChosen(id);
            setRefusal('');
          }}
        />
      </EditForm>
    </Dialog>
  );
}
