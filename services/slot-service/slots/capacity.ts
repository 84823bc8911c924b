import { maxInt32 } from '../../../shared/db/int32.ts';
import { statement } from '../../../shared/db/statement.ts';
import { isRunOutByOwner } from '../../../shared/holds/hold.ts';

/**
 * SQL of the units that the live holds of a row `slot_usage` have. It counts holds that have run out until a sweep marks
 * them, so they are taken off again; a slot without holds is spared the look.
 */
export const liveHolds = `(held - case when held = 0 then 0 else coalesce((
         select sum(units) from slot_bookings
         where slot_id = slot_usage.slot_id and ${isRunOutByOwner}
       ), 0) end)`;

/**
 * SQL of the units of a slot's live bookings (design 15), at most the largest int32.
 *
 * @param slotId SQL of the slot's id.
 */
export const unitsInUse = (slotId: string) => `coalesce((
       select least(booked + ${liveHolds}, ${maxInt32})::integer
       from slot_usage where slot_id = ${slotId}
     ), 0)`;

/** SQL of the units of the live bookings of the row `slots`; null if it is not counted. */
export const bookedUnits = `case when slots.capacity is not null then ${unitsInUse('slots.id')} end`;

/** SQL of the first key of the advisory locks of slots' units. The second one is the slot's id. */
export const unitsLock = "hashtext(own_name('units of a slot'))";

/**
 * Goes before a statement that counts the units of slots, or changes their capacity: whoever comes next sees what
 * the one before has written. The ids must be ascending, so that no two calls wait for one another.
 */
export const lockUnits = statement<never, { slotIds: readonly number[] }>(
  'lockUnits',
  `select pg_advisory_xact_lock(${unitsLock}, id) from unnest($slotIds::integer[]) as id`,
);
