import type { ReactNode } from 'react';
import { useUserNames } from '../lookup/names.ts';
import { useOrders } from '../lookup/orders.ts';
import { Empty } from '../ui/page.tsx';
import type { Sequence } from './sequence.ts';
import { Stops } from './stops.tsx';

/** Reads the names of a sequence's users, and its orders. */
export function useSequenceNames(sequence: Sequence) {
  const nameOf = useUserNames(Object.keys(sequence).map(Number));
  return { nameOf, ...useOrders([...new Set(Object.values(sequence).flat())].filter((stop) => stop > 0)) };
}

/** Shows in which order each user's orders are delivered. */
export function StoredSequence({ sequence }: { readonly sequence: Sequence }): ReactNode {
  const { nameOf, orders } = useSequenceNames(sequence);
  const users = Object.entries(sequence);
  if (users.length === 0) return <Empty>No sequence yet.</Empty>;
  return (
    <ul className="columns">
      {users.map(([user, stops]) => (
        <li key={user}>
          <strong>{nameOf(Number(user))}</strong>
          <Stops stops={stops} orders={orders} />
        </li>
      ))}
    </ul>
  );
}
