import { timeOf } from '../../../shared/db/micros.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { BatchQueryable } from '../../../shared/db/transaction.ts';
import type { PlannedCopy } from './copies.ts';

/**
 * Finds the active slots that take copies. With `locks`, no other call makes copies for the same days until the
 * transaction ends.
 *
 * @returns the lowest id of the slots that take a copy, by its place from 1.
 */
export async function findTakers(
  db: BatchQueryable,
  copies: readonly PlannedCopy[],
  { locks }: { readonly locks: boolean },
): Promise<ReadonlyMap<number, number>> {
  if (copies.length === 0) return new Map();
  const find = selectTakers({
    sourceIds: copies.map(({ source }) => source.id),
    deliveries: copies.map(({ delivery }) => String(delivery.micros)),
  });
  const rows = await db.batch(locks ? [lockDays({ days: lockedDays(copies) })] : [], find);
  return new Map(rows.map(({ place, id }) => [place, id]));
}

const microsPerDay = 86_400_000_000n;
// PostgreSQL has room for some 6,000 locks, so days far apart share one.
const lockCount = 64n;

/** The locks of the copies' days, ascending, which prevents deadlocks. */
function lockedDays(copies: readonly PlannedCopy[]): number[] {
  const days = copies.map(({ delivery }) => Number((delivery.micros / microsPerDay) % lockCount));
  return [...new Set(days)].toSorted((left, right) => left - right);
}

const lockDays = statement<never, { days: readonly number[] }>(
  'lockCopiedDays',
  `select pg_advisory_xact_lock(hashtext('copied_slots'), day) from unnest($days::integer[]) as day`,
);

/** Stands for the group of slots without groups. */
const noGroup = 2 ** 32;
const groupsOf = (slots: string) =>
  `unnest(case when ${slots}.group_ids = '{}' then array[${noGroup}] else ${slots}.group_ids::bigint[] end) as group_id`;

// Each group of a time is looked at once, however many slots and copies have it.
const selectTakers = statement<
  { place: number; id: number },
  { sourceIds: readonly number[]; deliveries: readonly string[] }
>(
  'copyTakers',
  `with copies as materialized (
     select place, source_id, ${timeOf('delivery')} as delivery_time
     from unnest($sourceIds::integer[], $deliveries::bigint[]) with ordinality as given (source_id, delivery, place)
   ),
   takers as (
     select delivery_time, group_id, min(id) as id
     from slots, ${groupsOf('slots')}
     where is_active and delivery_time in (select delivery_time from copies)
     group by delivery_time, group_id
   )
   select place::integer, min(takers.id) as id
   from copies
     join (select sources.id, group_id from slots as sources, ${groupsOf('sources')}) as sources on sources.id = source_id
     join takers using (delivery_time, group_id)
   group by place`,
);
