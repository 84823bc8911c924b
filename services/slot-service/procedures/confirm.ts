import { actorOf } from '../../../shared/audit/entry.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { confirmHold, confirmStatement } from '../../../shared/holds/confirm.ts';
import { isLive } from '../../../shared/holds/hold.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import { lockBooking, lockUnitsOf, refusalOf, requestRefreshOf, slotOf } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { afterBooking } from '../stores/after-slot-write.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

/**
 * Design 15, confirm: books what a booking holds, even after its slot has closed. A hold that has run out is taken again
 * if Book would take it. Throws NOT_FOUND, and FAILED_PRECONDITION for a hold without room and a released booking.
 */
export function confirm(parts: BookingParts): Handler<typeof SlotBookingService.method.confirm> {
  return async ({ bookingId: id }, call) => {
    const locks = [lockBooking({ id }), lockUnitsOf({ id, slotId: undefined })];
    const write = confirmBooking({ ...actorOf(call), id });
    const found = await confirmHold(parts.database.for(call), locks, write, errors);
    if (found.mayWrite) await afterBooking(parts, call, found.state, found.storeRequestId);
    return { booking: toBooking(found) };
  };
}

const errors = {
  notFound: slotErrors.bookingNotFound,
  released: slotErrors.bookingReleased,
  expired: slotErrors.holdExpired,
};

const confirmBooking = confirmStatement<BookingRow & { storeRequestId: string | null }>(bookingKind, {
  room: `${slotOf('(select slot_id from seen)')},
   room as (
     select slot.id is not null and ${refusalOf('seen.units')} is null as is_free from seen left join slot on true
   )`,
  hasRoom: `is_free and not exists (
         select from slot_bookings
         where order_key = seen.order_key and slot_id = seen.slot_id and ${isLive(bookingKind)}
       )`,
  after: {
    sql: requestRefreshOf(
      `select slot.*, seen.units as more from slot, seen join written using (id) where current_state = 'EXPIRED'`,
    ),
    columns: anyStoreRequestIdColumn,
  },
});
