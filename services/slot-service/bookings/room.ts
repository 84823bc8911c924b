import { statement } from '../../../shared/db/statement.ts';
import { BookingRefusal } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { bookedUnits, unitsLock } from '../slots/capacity.ts';
import { appendRefreshRequest } from '../stores/requests.ts';

// How a slot is judged (design 15). Whoever takes or frees units holds the lock of the slot.

/**
 * SQL of a common table expression with slots as the rules need them. `in_use` has the units of a slot's live bookings;
 * null if it is not counted.
 *
 * @param ids SQL of an id, or of `any` of several.
 */
export const slotRow = (ids: string, name = 'slot') => `${name} as materialized (
     select id, is_active, is_capacity_full, capacity, ${bookedUnits} as in_use,
       least(delivery_time, freeze_time) as closes_at
     from slots where id = ${ids}
   )`;

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
       when slot.capacity - slot.in_use < ${units} then ${BookingRefusal.NO_ROOM}
     end`;

/** SQL of what is left of the row `slot` once it has this many units more; null if it is not counted. */
export const leftOf = (units: string) =>
  `case when slot.capacity is not null then greatest(slot.capacity - slot.in_use - ${units}, 0) end`;

/**
 * Returns SQL of common table expressions that request a store refresh for each slot that becomes full, or is full no
 * more, unless staff have marked it. The lock keeps the mark: staff who change it come before, or request a refresh of
 * their own afterwards.
 *
 * @param changes SQL of rows with a slot's `id`, `capacity` and `in_use`, and how many units `more` it has then.
 */
export const requestRefreshOf = (changes: string) => `
   crossing as materialized (
     select id, is_capacity_full from slots
     where id in (
       select id from (${changes}) as changes where (capacity - in_use <= 0) <> (capacity - in_use <= more)
     )
     order by id for share
   ),
   ${appendRefreshRequest('id', 'crossing where not is_capacity_full')}`;

const lockBooking = statement<never, { id: number }>(
  'lockBooking',
  "select pg_advisory_xact_lock(hashtext(own_name('booking')), $id::integer)",
);

const lockUnitsOf = statement<never, { id: number; slotId: number | undefined }>(
  'lockUnitsOf',
  `select pg_advisory_xact_lock(${unitsLock}, slot_id)
   from (
     select slot_id from slot_bookings where id = $id union select $slotId::integer where $slotId is not null
     order by slot_id offset 0
   ) as slots`,
);

/**
 * Returns the statements that go before one that changes a booking. They lock the booking, so that nobody moves it to
 * another slot, and then, as `lockUnits`, its slot and the one that it moves to.
 */
export const locksOf = (id: number, slotId?: number) => [lockBooking({ id }), lockUnitsOf({ id, slotId })];
