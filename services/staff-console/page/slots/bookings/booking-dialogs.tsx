import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { parseDate } from '@internationalized/date';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Calendar, CalendarCell, CalendarGrid, CalendarHeading } from 'react-aria-components/Calendar';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { type SlotBooking, SlotBookingService } from '#gen/slot/v1/slot_booking_service_pb';
import { type PlannedSlot, SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { formatDay, useNow } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { ReasonDialog } from '../../forms/reason-dialog.tsx';
import { groupNames, useGroups } from '../../lookup/names.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty, Read } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { isOnFrom, reachingBack } from '../record/ends.ts';
import { CapacityBar, closesAt, PastSlot, SlotName, slotTime, slotTimeOn } from '../record/slot-state.tsx';

const { move: text, cancel } = words.slot;
const { move, release } = SlotBookingService.method;

interface BookingDialogProps {
  readonly booking: SlotBooking;
  onClose(): void;
  onDone(): void;
}

/** Cancels a booking, for a reason. */
export function CancelDialog({ booking, onClose, onDone }: BookingDialogProps) {
  const order = isolate(booking.orderKey);
  const write = useWrite(release, () => ({ text: cancel.done(order) }));
  const send = async (reason: string) => {
    const { failure } = await write.send({ bookingId: booking.id, reason });
    if (failure === undefined) onDone();
  };
  const now = useNow(20_000);
  const { action, pending, keep } = cancel;
  return (
    <ReasonDialog
      {...{ action, pending, keep, write, onClose }}
      title={cancel.title(order)}
      onSend={(reason) => void send(reason)}
    >
      <p>
        <SlotName id={booking.slotId} />
      </p>
      <PastSlot id={booking.slotId} now={now} />
      <p>{cancel.means(booking.units)}</p>
    </ReasonDialog>
  );
}

/** Moves a booking to another slot, which can be undone. */
export function MoveDialog({ booking, onClose, onDone }: BookingDialogProps) {
  const { id: bookingId, slotId, units } = booking;
  const order = isolate(booking.orderKey);
  const now = useNow(20_000);
  const from = useQuery(SlotService.method.getSlotById, { id: slotId }).data?.slot;
  const today = dateInput(new Date(now));
  const ofSlot = from?.deliveryTime === undefined ? today : dateInput(timestampDate(from.deliveryTime));
  const [picked, setPicked] = useState<string>();
  const day = picked ?? (ofSlot > today ? ofSlot : today);
  const [chosen, setChosen] = useState<number>();
  const [refusal, setRefusal] = useState('');
  const back = useWrite(move, ({ moved, message = '' }) => ({
    text: moved ? text.undone(order) : message,
    isProblem: !moved,
  }));
  const write = useWrite(move, ({ moved }) =>
    moved ? { text: text.done(order), undo: () => back.send({ bookingId, slotId }) } : undefined,
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
        <PastSlot id={slotId} now={now} />
        <div className="slot-choice">
          <I18nProvider locale="en-GB">
            <Calendar
              className="month"
              aria-label={words.day}
              minValue={parseDate(today)}
              value={parseDate(day)}
              onChange={(date) => {
                setPicked(date.toString());
                setChosen(undefined);
              }}
            >
              <header className="section-header">
                <CalendarHeading />
                <div className="actions">
                  <Button slot="previous" emphasis="quiet">
                    <ChevronLeft />
                  </Button>
                  <Button slot="next" emphasis="quiet">
                    <ChevronRight />
                  </Button>
                </div>
              </header>
              <CalendarGrid>{(date) => <CalendarCell date={date} className="button quiet" />}</CalendarGrid>
            </Calendar>
          </I18nProvider>
          <RadioGroup
            className="choice"
            value={chosen === undefined ? null : String(chosen)}
            onChange={(id) => {
              setChosen(Number(id));
              setRefusal('');
            }}
          >
            <Label>{text.slots(formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day)))}</Label>
            <SlotOptions {...{ day, booking }} />
          </RadioGroup>
        </div>
      </EditForm>
    </Dialog>
  );
}

/** The slots of a day, of which another one with room for a booking can be chosen. */
function SlotOptions({ day, booking }: { readonly day: string; readonly booking: SlotBooking }) {
  const now = useNow(20_000);
  const groups = useGroups();
  const query = useQuery(SlotPlanService.method.listSlots, {
    deliveryFrom: reachingBack(day),
    deliveryUntil: fromTimeInput(`${shiftDay(day, 1)}T00:00`),
    limit: 1_000,
  });
  return (
    <Read query={{ ...query, data: query.data?.slots.filter(isOnFrom(day)) }} what={words.slots.theSlots}>
      {(slots) => (
        <div className="options">
          {slots.length === 0 && <Empty>{text.none}</Empty>}
          {slots.map((slot) => {
            const { id, capacity, booked = 0 } = slot;
            const { isOpen, room } = roomOf(slot, booking.units, now);
            return (
              <Radio key={id} value={String(id)} isDisabled={!isOpen || id === booking.slotId} className="option">
                <div>
                  {slotTimeOn(day, slot)}
                  <div className="detail">{groupNames(groups, slot.groupIds)}</div>
                </div>
                <div className="room">
                  {id === booking.slotId ? text.here : room}
                  {capacity !== undefined && <CapacityBar {...{ booked, capacity }} />}
                </div>
              </Radio>
            );
          })}
        </div>
      )}
    </Read>
  );
}

/** Says whether a slot takes an order of some units at a time in Unix ms, and how much more it takes. */
function roomOf(slot: PlannedSlot, units: number, now: number) {
  const { isCapacityFull, capacity, booked = 0 } = slot;
  if (closesAt(slot) <= now) return { isOpen: false, room: words.slots.ordersClosed };
  const left = Math.max(0, (capacity ?? Number.POSITIVE_INFINITY) - booked);
  if (isCapacityFull || left === 0) return { isOpen: false, room: words.slots.states.full };
  return { isOpen: left >= units, room: capacity === undefined ? words.noLimit : text.left(left) };
}
