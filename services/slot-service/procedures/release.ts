import { actorOf } from '../../../shared/audit/entry.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { isLive } from '../../../shared/holds/hold.ts';
import { releaseStatement } from '../../../shared/holds/release.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import { finishBooking } from '../bookings/outcome.ts';
import { locksOf, requestRefreshOf, slotRow } from '../bookings/room.ts';
import { slotErrors } from '../errors.ts';
import type { BookingParts } from '../parts.ts';
import { anyStoreRequestIdColumn } from '../stores/requests.ts';

/** Design 15, release: gives the units of a booking back. The reason goes to the audit trail. Throws NOT_FOUND. */
export function release(parts: BookingParts): Handler<typeof SlotBookingService.method.release> {
  return async ({ bookingId: id, reason }, call) => {
    const write = releaseBooking({ ...actorOf(call), id, reason });
    const [booking] = await parts.database.for(call).pipeline(locksOf(id), write);
    if (booking === undefined) throw fail(slotErrors.bookingNotFound);
    if (booking.isChanged) await finishBooking(parts, call, booking.state, booking.storeRequestId);
    return { booking: toBooking(booking) };
  };
}

const releaseBooking = releaseStatement<BookingRow & { storeRequestId: string | null }>(bookingKind, {
  sql: `,
   ${slotRow('(select slot_id from seen)')},
   ${requestRefreshOf(
     `select slot.*, -seen.units as more from slot, seen join written using (id) where ${isLive(bookingKind, 'seen')}`,
   )}`,
  columns: `, ${anyStoreRequestIdColumn}`,
});
