import { statement } from '../../../shared/db/statement.ts';
import { BookingRefusal } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { bookedUnits } from '../slots/capacity.ts';
import { appendRefreshRequest } from '../stores/requests.ts';

// How a slot is judged (design 15). The locks of `lockUnits` must be held where units are taken or freed.

/** SQL of the slot of an id as the rules need it. `taken` has the units of its live bookings, null if it is not counted. */
export const slotsAsJudged = (id: string) => `
     select id, is_active, is_capacity_full, capacity, ${bookedUnits} as taken,
       least(delivery_time, freeze_time) as closes_at
     from slots where id = ${id}`;

/** SQL of a common table expression with it, the row `slot`. */
export const slotOf = (id: string, name = 'slot') => `${name} as materialized (${slotsAsJudged(id)})`;

/**
 * SQL of the first reason for which the row `slot` takes no more units, as a number of `BookingRefusal`; null if it
 * takes them.
 *
 * @param units SQL of how many, less those that are free again then.
 */
export const refusalOf = (units: string) => `case
       when not slot.is_active then ${BookingRefusal.INACTIVE}
       when slot.closes_at <= statement_timestamp() then ${BookingRefusal.CLOSED}
       when slot.is_capacity_full then ${BookingRefusal.MARKED_FULL}
       when slot.taken + ${units} > slot.capacity then ${BookingRefusal.NO_ROOM}
     end`;

/** SQL of what is left of the row `slot` once it has this many units more; null if it is not counted. */
export const leftOf = (units: string) =>
  `case when slot.capacity is not null then greatest(slot.capacity - slot.taken - ${units}, 0) end`;

/**
 * Returns SQL of common table expressions that request a store refresh for each slot that becomes full, or is full no
 * more, unless staff have marked it. Whoever marks one meanwhile comes before or after, and so does the refresh of that.
 *
 * @param changes SQL of rows with a slot's `id`, `capacity` and `taken`, and how many units `more` it has then.
 */
export const requestRefreshOf = (changes: string) => `
   crossing as materialized (
     select id, is_capacity_full from slots
     where id in (select id from (${changes}) as changes where (taken >= capacity) <> (taken + more >= capacity))
     order by id for share
   ),
   ${appendRefreshRequest('id', 'crossing where not is_capacity_full')}`;

/** Goes before a statement that changes a booking: nobody else moves it meanwhile. */
export const lockBooking = statement<never, { id: number }>(
  'lockBooking',
  "select pg_advisory_xact_lock(hashtext(own_name('booking')), $id::integer)",
);

/** As `lockUnits`, for the slot of a booking that is locked, and for the one that it is moved to. */
export const lockUnitsOf = statement<never, { id: number; slotId: number | undefined }>(
  'lockUnitsOf',
  `select pg_advisory_xact_lock(hashtext(own_name('units of a slot')), slot_id)
   from (
     select slot_id from slot_bookings where id = $id union select $slotId::integer where $slotId is not null
     order by slot_id offset 0
   ) as slots`,
);
