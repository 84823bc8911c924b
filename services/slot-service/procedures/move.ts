import { type Actor, actorOf, auditEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { BookingRefusal, SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { changeOfHold, holdColumns, isLive, stateOf } from '../../../shared/holds/hold.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import { finishBooking, refuse } from '../bookings/outcome.ts';
import { leftOf, locksOf, refusalOf, requestRefreshOf, slotRow } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

/**
 * Design 15, move: in one step the units of a live booking leave one slot and are taken in another one, or nothing
 * happens. A refusal is no error.
 *
 * Throws NOT_FOUND for an unknown booking or slot, FAILED_PRECONDITION for a booking that is not live, and
 * ALREADY_EXISTS for an order that has a live booking of the other slot.
 */
export function move(parts: BookingParts): Handler<typeof SlotBookingService.method.move> {
  return async ({ bookingId: id, slotId }, call) => {
    const write = moveBooking({ ...actorOf(call), id, slotId });
    const db = parts.database.for(call);
    const found = await conditionalWrite(() => db.pipeline(locksOf(id, slotId), write));
    if (found.id === null) throw fail(slotErrors.bookingNotFound);
    if (found.state === 'RELEASED') throw fail(slotErrors.bookingReleased);
    if (found.state === 'EXPIRED') throw fail(slotErrors.holdExpired);
    const answer = { booking: toBooking(found), remaining: found.remaining ?? undefined };
    if (found.mayWrite) await finishBooking(parts, call, 'MOVED', found.storeRequestId);
    if (found.slotId === slotId) return { ...answer, moved: true };
    if (!found.slotExists) throw fail(slotErrors.slotNotFound);
    if (found.orderHasBooking) throw fail(slotErrors.orderHasBooking);
    if (found.refusal === null) throw new Error('a booking was not moved, and no rule says why');
    return { ...answer, moved: false, ...(await refuse(parts, call, found.refusal)) };
  };
}

type Found = {
  slotExists: boolean;
  /** The order has a live booking of the other slot. */
  orderHasBooking: boolean;
  refusal: BookingRefusal | null;
  mayWrite: boolean;
  /** The units that are left of the slot that was asked for, if it is counted. */
  remaining: number | null;
  storeRequestId: string | null;
} & (BookingRow | { id: null });

const moveBooking = statement<Found, { id: number; slotId: number } & Actor>(
  'move',
  `with seen as materialized (
     select *, ${stateOf('slot_bookings')} as current_state, xmin from slot_bookings where id = $id
   ),
   ${slotRow('$slotId::integer')},
   ${slotRow('(select slot_id from seen)', 'own')},
   found as materialized (
     select slot.id is not null as "slotExists", ${refusalOf('seen.units')} as refusal, exists (
         select from slot_bookings
         where order_key = seen.order_key and slot_id = $slotId and id <> seen.id and ${isLive(bookingKind)}
       ) as "orderHasBooking",
       current_state in ('HELD', 'BOOKED') and slot_id <> $slotId as is_move
     from seen left join slot on true
   ),
   decided as materialized (
     select *, is_move and "slotExists" and not "orderHasBooking" and refusal is null as "mayWrite" from found
   ),
   written as (
     update slot_bookings set slot_id = $slotId
     from seen, decided where "mayWrite" and ${isAsSeen('slot_bookings')}
     returning slot_bookings.*
   ),
   ${auditEntry('booking', changeOfHold(bookingKind))},
   ${requestRefreshOf(
     'select slot.*, units as more from slot, written union all select own.*, -units from own, written',
   )}
   select coalesce("mayWrite", false) as "mayWrite", "slotExists", "orderHasBooking", refusal, ${anyStoreRequestIdColumn},
     ${leftOf('coalesce((select units from written), 0)')} as remaining, ${holdColumns(bookingKind)}
   from (values (1)) as one left join decided on true left join slot on true left join (
     select * from written
     union all select slot_bookings.* from slot_bookings, decided where id = $id and not "mayWrite"
   ) as slot_bookings on true`,
);
