import { formatAmount } from '../business/money.ts';
import { type Orders, useOrders, useUserNames } from '../lookup/names.ts';
import { Empty } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { type Sequence, stopsBefore } from './sequence.ts';

const text = words.slot.sequence;

/** Reads the names of a sequence's users, and its orders. */
export function useSequenceNames(sequence: Sequence) {
  const nameOf = useUserNames(Object.keys(sequence).map(Number));
  return { nameOf, ...useOrders([...new Set(Object.values(sequence).flat())].filter((stop) => stop > 0)) };
}

/** Names a stop by its order's own key, if there is one. */
export const nameOfStop = (stop: number, orders: Orders) => isolate(orders.get(stop)?.externalId ?? String(stop));

/** Describes a stop, which is an order: its number, whose it is, and what it came to. */
export function describeStop(stop: number, orders: Orders): string {
  const order = orders.get(stop);
  if (order === undefined) return orders.has(stop) ? text.noSuch(stop) : text.stop(stop);
  const amount = order.totalAmount === undefined ? '' : `, ${formatAmount(order.totalAmount)}`;
  return `${text.stop(nameOfStop(stop, orders))}: ${isolate(order.user?.name ?? text.noUser)}${amount}`;
}

/** Shows the stops of a slot in their order, which is that of the users' ids, then of each user's orders. */
export function StoredSequence({ sequence }: { readonly sequence: Sequence }) {
  const { nameOf, orders } = useSequenceNames(sequence);
  const users = Object.entries(sequence);
  if (users.length === 0) return <Empty>{text.none}</Empty>;
  return (
    <ul className="columns">
      {users.map(([user, stops]) => (
        <li key={user}>
          <strong>{nameOf(Number(user))}</strong>
          {stops.length === 0 ? (
            <p className="empty">{text.noOrders}</p>
          ) : (
            <ol start={stopsBefore(sequence, user) + 1}>
              {stops.map((stop, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a stop may occur twice, and the list is not edited.
                <li key={index}>{describeStop(stop, orders)}</li>
              ))}
            </ol>
          )}
        </li>
      ))}
    </ul>
  );
}
