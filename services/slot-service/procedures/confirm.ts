import { actorOf } from '../../../shared/audit/entry.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { confirmHold, confirmStatement } from '../../../shared/holds/confirm.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import { finishBooking } from '../bookings/outcome.ts';
import { locksOf, refusalOf, requestRefreshOf, slotRow } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

/**
 * Design 15, confirm: books what a booking holds, even after its slot has closed. A hold that has run out is taken again
 * if the slot takes as many units, and the order has no other live booking of it. Throws NOT_FOUND, and
 * FAILED_PRECONDITION for a hold that can't be taken again and for a released booking.
 */
export function confirm(parts: BookingParts): Handler<typeof SlotBookingService.method.confirm> {
  return async ({ bookingId: id }, call) => {
    const write = confirmBooking({ ...actorOf(call), id });
    const found = await confirmHold(parts.database.for(call), locksOf(id), write, errors);
    if (found.mayWrite) await finishBooking(parts, call, found.state, found.storeRequestId);
    return { booking: toBooking(found) };
  };
}

const errors = {
  notFound: slotErrors.bookingNotFound,
  released: slotErrors.bookingReleased,
  expired: slotErrors.holdExpired,
};

const confirmBooking = confirmStatement<BookingRow & { storeRequestId: string | null }>(bookingKind, {
  room: `${slotRow('(select slot_id from seen)')},
   room as (
     select slot.id is not null and ${refusalOf('seen.units')} is null as is_free from seen left join slot on true
   )`,
  hasRoom: 'is_free',
  heldColumn: 'slot_id',
  sql: `,
   ${requestRefreshOf(
     `select slot.*, seen.units as more from slot, seen join written using (id) where current_state = 'EXPIRED'`,
   )}`,
  columns: `, ${anyStoreRequestIdColumn}`,
});
