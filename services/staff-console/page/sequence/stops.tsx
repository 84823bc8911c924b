import { formatAmount } from '../business/money.ts';
import type { Orders } from '../lookup/orders.ts';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.slot.sequence;

/** Describes a stop, which is an order: its number, whose it is, and what it came to. */
export function describeStop(stop: number, orders: Orders): string {
  const order = orders.get(stop);
  if (order === undefined) return orders.has(stop) ? text.noSuch(stop) : text.stop(stop);
  const amount = order.totalAmount === undefined ? '' : `, ${formatAmount(order.totalAmount)}`;
  return `${text.stop(stop)}: ${isolate(order.user?.name ?? text.noUser)}${amount}`;
}

interface StopsProps {
  readonly stops: readonly number[];
  readonly orders: Orders;
  /** The number of the first stop. */
  readonly first: number;
}

/** Lists stops in their order. */
export function Stops({ stops, orders, first }: StopsProps) {
  if (stops.length === 0) return <p className="empty">{text.noOrders}</p>;
  return (
    <ol start={first}>
      {stops.map((stop, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stop may occur twice, and the list is not edited.
        <li key={index}>{describeStop(stop, orders)}</li>
      ))}
    </ol>
  );
}
