import { useState } from 'react';
import { type SlotBooking, SlotBookingService } from '#gen/slot/v1/slot_booking_service_pb';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';

const text = words.slot.cancel;

/** The properties of a dialog about a booking. */
export interface BookingDialogProps {
  readonly booking: SlotBooking;
  onClose(): void;
  onDone(): void;
}

/** Cancels a booking, for a reason. */
export function CancelDialog({ booking, onClose, onDone }: BookingDialogProps) {
  const order = isolate(booking.orderKey);
  const [reason, setReason] = useState('');
  const write = useWrite(SlotBookingService.method.release, () => ({ text: text.done(order) }));
  const send = async () => {
    const { failure } = await write.send({ bookingId: booking.id, reason: reason.trim() });
    if (failure === undefined) onDone();
  };
  return (
    <Dialog title={text.title(order)} isOpen onClose={onClose}>
      <EditForm action={text.action} pending={text.pending} write={write} onSend={() => void send()} onCancel={onClose}>
        <p>{text.means(booking.units)}</p>
        <TextField
          label={words.orders.reason}
          hint={words.orders.reasonHint}
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
