import type { ReactNode } from 'react';
import { formatAmount } from '../business/money.ts';
import type { Orders } from '../lookup/orders.ts';
import { isolate } from '../ui/text.ts';

/** Describes a stop, which is an order: its number, whose it is, and what it came to. */
export function describeStop(stop: number, orders: Orders): string {
  const order = orders.get(stop);
  if (order === undefined) return orders.has(stop) ? `${stop}: no such order` : `Order ${stop}`;
  const amount = order.totalAmount === undefined ? '' : `, ${formatAmount(order.totalAmount)}`;
  return `Order ${stop}: ${isolate(order.user?.name ?? 'no user')}${amount}`;
}

interface StopsProps {
  readonly stops: readonly number[];
  readonly orders: Orders;
}

/** Lists stops in their order. */
export function Stops({ stops, orders }: StopsProps): ReactNode {
  if (stops.length === 0) return <p className="empty">No orders.</p>;
  return (
    <ol>
      {stops.map((stop, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a stop may occur twice, and the list is not edited.
        <li key={index}>{describeStop(stop, orders)}</li>
      ))}
    </ol>
  );
}
