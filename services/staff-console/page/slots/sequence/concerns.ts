import type { Orders } from '../../lookup/orders.ts';
import type { Sequence } from '../../sequence/sequence.ts';
import { words } from '../../words.ts';

const text = words.slot.sequence;

/** Returns what looks like a mistake in a sequence. What stood in `was` is not questioned. */
export function concernsOf(
  sequence: Sequence,
  was: Sequence,
  orders: Orders,
  nameOf: (userId: number) => string,
): string[] {
  const concerns = new Set<string>();
  const unknown = new Set<number>();
  const counts = countsOf(sequence);
  const countsBefore = countsOf(was);
  for (const [user, stops] of Object.entries(sequence)) {
    const before = new Set(was[user]);
    for (const stop of stops) {
      const order = orders.get(stop);
      const owner = order?.user;
      const isNew = !before.has(stop);
      if (isNew && orders.has(stop) && order === undefined) unknown.add(stop);
      if (isNew && owner !== undefined && owner.id !== Number(user)) {
        concerns.add(text.otherOwner(stop, nameOf(Number(user)), nameOf(owner.id)));
      }
      const count = counts.get(stop) ?? 0;
      if (count > Math.max(1, countsBefore.get(stop) ?? 0)) concerns.add(text.twice(stop, count));
    }
  }
  return [...(unknown.size > 0 ? [text.unknown([...unknown].join(', '))] : []), ...concerns];
}

/** Counts how often each stop occurs. */
function countsOf(sequence: Sequence): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const stop of Object.values(sequence).flat()) counts.set(stop, (counts.get(stop) ?? 0) + 1);
  return counts;
}
