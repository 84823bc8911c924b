import { timeOf } from '../../../shared/db/micros.ts';
import { type Queryable, statement } from '../../../shared/db/statement.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import type { PlannedCopy } from './copies.ts';

/** The groups of all slots at the times of the copies, in bytes: about a million. */
const maxGroupBytes = 4 * 1024 * 1024;

/**
 * Finds the active slots that take copies. With `locks`, no other call makes copies for the same days until the
 * transaction ends.
 *
 * Throws INVALID_ARGUMENT if the slots at the times of the copies have too many groups to look through. Loses a race if
 * a source was changed after it was read.
 *
 * @returns the lowest id of the slots that take a copy, by its place from 1.
 */
export async function findTakers(
  db: Queryable,
  copies: readonly PlannedCopy[],
  { locks }: { readonly locks: boolean },
): Promise<ReadonlyMap<number, number>> {
  if (copies.length === 0) return new Map();
  const find = selectTakers({
    sourceIds: copies.map(({ source }) => source.id),
    seen: copies.map(({ source }) => source.seen),
    deliveries: copies.map(({ delivery }) => String(delivery.micros)),
  });
  const rows = await db.pipeline(locks ? [lockDays({ days: lockedDays(copies) })] : [], find);
  if (rows.some(({ haveManyGroups }) => haveManyGroups)) {
    throw invalidField('shift_days', 'the slots at the times of the copies have too many groups');
  }
  return new Map(rows.flatMap(({ place, id }) => (id === null ? [] : [[place, id]])));
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
  `select pg_advisory_xact_lock(hashtext(own_name('copied_slots')), day) from unnest($days::integer[]) as day`,
);

/** Stands for the group of slots without groups. */
const noGroup = 2 ** 32;
const groupsOf = (slots: string) =>
  `unnest(case when ${slots}.group_ids = '{}' then array[${noGroup}] else ${slots}.group_ids::bigint[] end) as group_id`;

// Each group of a time is looked at once, however many slots and copies have it.
const selectTakers = statement<
  { place: number; id: number | null; haveManyGroups: boolean },
  { sourceIds: readonly number[]; seen: readonly string[]; deliveries: readonly string[] }
>(
  'copyTakers',
  `with copies as materialized (
     select place, source_id, seen, ${timeOf('delivery')} as delivery_time
     from unnest($sourceIds::integer[], $seen::text[], $deliveries::bigint[])
       with ordinality as given (source_id, seen, delivery, place)
   ),
   sources as materialized (
     select id, xmin::text as version, group_ids from slots where id = any($sourceIds::integer[])
   ),
   wanted as materialized (
     select sources.id as source_id, group_id from sources, ${groupsOf('sources')}
   ),
   at_times as materialized (
     select id, delivery_time, group_ids from slots
     where is_active and delivery_time in (select delivery_time from copies)
   ),
   sized as materialized (
     select coalesce(sum(pg_column_size(group_ids)), 0) > ${maxGroupBytes} as have_many_groups from at_times
     where group_ids <> '{}'
   ),
   takers as (
     select delivery_time, group_id, min(id) as id
     from at_times, ${groupsOf('at_times')}
     where not (select have_many_groups from sized) and group_id in (select group_id from wanted)
     group by delivery_time, group_id
   ),
   taken as (
     select place, min(takers.id) as id
     from copies join wanted using (source_id) join takers using (delivery_time, group_id)
     group by place
   )
   select place::integer, taken.id, (select have_many_groups from sized) as "haveManyGroups", (
     select case when not bool_and(coalesce(version = seen, false)) then refuse_lost_race() end
     from copies left join sources on sources.id = source_id
   ) as "lostRace"
   from copies left join taken using (place)`,
);
