import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type ListBookingsResponse,
  type SlotBooking,
  SlotBookingService,
} from '../../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { trailAddress } from '../audit/trail/filters.ts';
import { useNow } from '../business/time.tsx';
import type { Column } from '../lists/column.ts';
import { List } from '../lists/list.tsx';
import { byToken, useRows } from '../lists/source.ts';
import { useUserNames } from '../lookup/names.ts';
import { Section } from '../ui/page.tsx';
import { bookingStateOf } from './state.ts';
import { stateColumn, whenColumn } from './state-columns.tsx';

const rowsOf = ({ bookings }: ListBookingsResponse) => bookings;

/** Lists the bookings of an order as a section of its page, newest first. */
export function Bookings({ orderKey }: { readonly orderKey: string }): ReactNode {
  const now = useNow(20_000);
  const request = { orderKey, limit: 50 };
  const source = { method: SlotBookingService.method.listBookings, request, rowsOf, next: byToken };
  const { rows = [] } = useRows(source, false);
  const nameOf = useUserNames([...new Set(rows.flatMap(({ userId }) => userId ?? []))]);
  return (
    <Section title="Bookings">
      <List
        source={source}
        what="bookings"
        empty="No slot is booked for this order."
        caption="Newest first"
        columns={[
          ...slotColumns,
          {
            title: 'User',
            show: ({ userId }) => userId && <Link href={`/users/${userId}`}>{nameOf(userId)}</Link>,
            // In a file: names are known for the rows on show only.
            text: ({ userId }) => String(userId ?? ''),
            file: [{ title: 'User number', text: ({ userId }) => String(userId ?? '') }],
          },
          { title: 'Units', text: ({ units }) => String(units), className: 'number' },
          stateColumn((booking: SlotBooking) => bookingStateOf(booking, now)),
          whenColumn('Booked', ({ bookedAt }: SlotBooking) => bookedAt, now),
        ]}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}

const slotColumns: readonly Column<SlotBooking>[] = [
  {
    title: 'Booking',
    show: ({ id }) => <Link href={trailAddress({ type: 'booking', id: String(id) })}>Booking {id}</Link>,
    text: ({ id }) => String(id),
    className: 'name',
  },
  {
    title: 'Slot',
    show: ({ slotId }) => <Link href={`/slots/${slotId}`}>Slot {slotId}</Link>,
    text: ({ slotId }) => String(slotId),
    file: [{ title: 'Slot number', text: ({ slotId }) => String(slotId) }],
    className: 'name',
  },
];
