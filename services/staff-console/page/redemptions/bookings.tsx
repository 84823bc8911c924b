import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type ListBookingsResponse,
  SlotBookingService,
} from '../../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { trailAddress } from '../audit/trail/filters.ts';
import { useNow } from '../business/time.tsx';
import { List } from '../lists/list.tsx';
import { byToken, useRows } from '../lists/source.ts';
import { useUserNames } from '../lookup/names.ts';
import { Section } from '../ui/page.tsx';
import { stateColumn, userColumn } from './hold-columns.tsx';

const rowsOf = ({ bookings }: ListBookingsResponse) => bookings;

/** Lists the bookings of an order or a customer as a section of its page, newest first. */
export function Bookings(of: { readonly orderKey: string } | { readonly userId: number }): ReactNode {
  const now = useNow(20_000);
  const request = { ...of, limit: 50 };
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
            className: 'name',
          },
          userColumn(nameOf),
          { title: 'Units', text: ({ units }) => String(units), className: 'number' },
          stateColumn(now),
        ]}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}
