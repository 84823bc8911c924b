import { Link } from 'react-aria-components/Link';
import { type SlotBooking, SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { Time, useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import type { Column } from '../lists/column.tsx';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { useRows } from '../lists/source.ts';
import { useUsers } from '../lookup/names.ts';
import { CancelDialog, MoveDialog } from '../slots/bookings/booking-dialogs.tsx';
import { type BookingsOf, bookingsOf, isLive, liveStates, unitsOf } from '../slots/bookings/live-bookings.ts';
import { SlotName } from '../slots/record/slot-state.tsx';
import { Button } from '../ui/button.tsx';
import { Section } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { stateColumn, useRowDialog, userColumn } from './holds.tsx';
import { orderPath } from './order.ts';

const { slot: text, orders } = words;

/** What a slot's bookings can be filtered by, beside those that have units of it. */
const filters: Readonly<Record<string, readonly [words: string, states: SlotBookingState[]]>> = {
  booked: [orders.states.booked, [SlotBookingState.BOOKED]],
  held: [orders.states.held, [SlotBookingState.HELD]],
  expired: [orders.states.expired, [SlotBookingState.EXPIRED]],
  canceled: [orders.states.canceled, [SlotBookingState.RELEASED]],
  all: [text.filter.all, []],
};
const options = Object.entries(filters).map(([value, [name]]) => [value, name] as const);

/**
 * Lists the bookings of a slot, an order or a customer as a section of its page, newest first. Of a slot, those that have
 * units of it, unless staff ask for others.
 */
export function Bookings(of: Omit<BookingsOf, 'states'>) {
  const isOfSlot = of.slotId !== undefined;
  const now = useNow(20_000);
  const { values, field } = useFilters(['booking']);
  const [, states = isOfSlot ? liveStates : []] = filters[values.booking] ?? [];
  const source = bookingsOf({ ...of, states });
  const { rows = [] } = useRows(source, false);
  const userOf = useUsers([...new Set(rows.flatMap(({ userId }) => userId ?? []))]);
  const { open, shown } = useRowDialog();
  const act = (
    booking: SlotBooking,
    { short, order }: typeof text.move | typeof text.cancel,
    BookingDialog: typeof CancelDialog,
  ) => (
    <Button
      emphasis="quiet"
      aria-label={order(booking.orderKey)}
      onPress={() => open((onClose, onDone) => <BookingDialog booking={booking} onClose={onClose} onDone={onDone} />)}
    >
      {short}
    </Button>
  );
  const customerColumn = userColumn((id) => (
    <>
      {userOf(id).name}
      <div className="detail">{userOf(id).mobile}</div>
    </>
  ));
  const columns: readonly Column<SlotBooking>[] = [
    isOfSlot ? orderColumn : slotColumn,
    ...(of.userId === undefined ? [customerColumn] : []),
    { title: words.fields.units, text: ({ units }) => String(units), className: 'number' },
    stateColumn(now),
    {
      title: words.actions,
      show: (row) =>
        isLive(row, now) && (
          <>
            {act(row, text.move, MoveDialog)}
            {act(row, text.cancel, CancelDialog)}
          </>
        ),
      text: () => '',
      file: [],
      className: 'name',
    },
  ];
  return (
    <Section
      title={words.slots.bookings}
      actions={
        isOfSlot && (
          <div className="bar">
            <SelectField label={words.fields.state} none={text.filter.live} {...{ options }} {...field('booking')} />
          </div>
        )
      }
    >
      <List
        source={source}
        what={words.slots.bookings.toLowerCase()}
        empty={isOfSlot ? text.empty.ofSlot : text.empty.ofOther}
        {...(isOfSlot && { noMatch: text.empty.ofState })}
        caption={text.caption(unitsOf(rows))}
        columns={columns}
      />
      {shown}
    </Section>
  );
}

const orderColumn: Column<SlotBooking> = {
  title: words.fields.orderKey,
  show: ({ orderKey, createdAt }) => (
    <>
      <Link href={orderPath(orderKey)}>{isolate(orderKey)}</Link>
      <div className="detail">
        {text.placed} <Time at={createdAt} />
      </div>
    </>
  ),
  text: ({ orderKey }) => orderKey,
};

const slotColumn: Column<SlotBooking> = {
  title: words.fields.slotId,
  show: ({ slotId, orderKey }) => (
    <>
      <Link href={`/slots/${slotId}`}>
        <SlotName id={slotId} />
      </Link>
      <div className="detail">
        <Link href={orderPath(orderKey)}>{words.orders.titled(isolate(orderKey))}</Link>
      </div>
    </>
  ),
  text: ({ slotId }) => String(slotId),
  file: [
    { title: words.fields.slotId, text: ({ slotId }) => String(slotId) },
    { title: words.fields.orderKey, text: ({ orderKey }) => orderKey },
  ],
};
