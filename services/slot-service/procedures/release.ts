import { actorOf } from '../../../shared/audit/entry.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { isLive } from '../../../shared/holds/hold.ts';
import { releaseStatement } from '../../../shared/holds/release.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import { lockBooking, lockUnitsOf, requestRefreshOf, slotOf } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { afterBooking } from '../stores/after-slot-write.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

/** Design 15, release: gives the units of a booking back. The reason goes to the audit trail. Throws NOT_FOUND. */
export function release(parts: BookingParts): Handler<typeof SlotBookingService.method.release> {
  return async ({ bookingId: id, reason }, call) => {
    const locks = [lockBooking({ id }), lockUnitsOf({ id, slotId: undefined })];
    const write = releaseBooking({ ...actorOf(call), id, reason });
    const [booking] = await parts.database.for(call).pipeline(locks, write);
    if (booking === undefined) throw fail(slotErrors.bookingNotFound);
    if (booking.isChanged) await afterBooking(parts, call, booking.state, booking.storeRequestId);
    return { booking: toBooking(booking) };
  };
}

const releaseBooking = releaseStatement<BookingRow & { storeRequestId: string | null }>(bookingKind, {
  sql: `${slotOf('(select slot_id from seen)')},
   ${requestRefreshOf(
     `select slot.*, -slot_bookings.units as more
     from slot, seen as slot_bookings join written using (id) where ${isLive(bookingKind)}`,
   )}`,
  columns: anyStoreRequestIdColumn,
});
