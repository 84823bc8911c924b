import { type SlotBooking, SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { formatAmount } from '../../business/money.ts';
import { useRows } from '../../lists/source.ts';
import { useUsers } from '../../lookup/names.ts';
import { useOrders } from '../../lookup/orders.ts';
import type { Sequence } from '../../sequence/sequence.ts';
import { Empty } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { isolate, readId } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { bookingsOf, liveStates } from '../bookings/live-bookings.ts';

const text = words.slot.sheets;

interface VisitsProps {
  readonly slotId: number;
  readonly sequence: Sequence;
}

/** Whom the courier goes to: the stops in their order, then what is booked without a stop. Each has a place to sign. */
export function Visits({ slotId, sequence }: VisitsProps) {
  const list = useRows(bookingsOf({ slotId, states: liveStates }), true);
  return (
    <Read query={{ ...list, data: list.isReading ? undefined : list.rows }} what={text.visits}>
      {(rows) => (
        <VisitTable
          stops={Object.values(sequence).flat()}
          // What is only held is not paid yet.
          booked={rows.filter(({ state }) => state === SlotBookingState.BOOKED).toReversed()}
        />
      )}
    </Read>
  );
}

interface VisitTableProps {
  readonly stops: readonly number[];
  readonly booked: readonly SlotBooking[];
}

function VisitTable({ stops, booked }: VisitTableProps) {
  const bookings = new Map(booked.map((booking) => [booking.orderKey, booking]));
  const stopKeys = new Set(stops.map(String));
  const keys = [...stops.map(String), ...[...bookings.keys()].filter((key) => !stopKeys.has(key))];
  const { orders } = useOrders([...new Set(keys.flatMap((key) => readId(key) ?? []))]);
  const userOf = useUsers([...new Set(booked.flatMap(({ userId }) => userId ?? []))]);
  if (keys.length === 0) return <Empty>{text.noVisits}</Empty>;
  return (
    <table className="visits">
      <thead>
        <tr>
          {text.columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {keys.map((key, index) => {
          const booking = bookings.get(key);
          const order = orders.get(Number(key));
          const user = booking?.userId === undefined ? order?.user : userOf(booking.userId);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a stop may occur twice, and the list is not edited.
            <tr key={index}>
              <td>{index < stops.length && index + 1}</td>
              <td>
                {isolate(user?.name ?? '')} <span className="detail">{user?.mobile}</span>
              </td>
              <td>
                {isolate(key)}{' '}
                {order?.totalAmount !== undefined && <span className="detail">{formatAmount(order.totalAmount)}</span>}
              </td>
              <td>{booking?.units}</td>
              <td />
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
