import { useUserNames } from '../lookup/names.ts';
import { useOrders } from '../lookup/orders.ts';
import { Empty } from '../ui/page.tsx';
import { words } from '../words.ts';
import type { Sequence } from './sequence.ts';
import { Stops } from './stops.tsx';

/** Reads the names of a sequence's users, and its orders. */
export function useSequenceNames(sequence: Sequence) {
  const nameOf = useUserNames(Object.keys(sequence).map(Number));
  return { nameOf, ...useOrders([...new Set(Object.values(sequence).flat())].filter((stop) => stop > 0)) };
}

/** Shows the stops of a slot in their order, which is that of the users' ids, then of each user's orders. */
export function StoredSequence({ sequence }: { readonly sequence: Sequence }) {
  const { nameOf, orders } = useSequenceNames(sequence);
  const users = Object.entries(sequence);
  if (users.length === 0) return <Empty>{words.slot.sequence.none}</Empty>;
  let next = 1;
  return (
    <ul className="columns">
      {users.map(([user, stops]) => {
        const first = next;
        next += stops.length;
        return (
          <li key={user}>
            <strong>{nameOf(Number(user))}</strong>
            <Stops stops={stops} orders={orders} first={first} />
          </li>
        );
      })}
    </ul>
  );
}
