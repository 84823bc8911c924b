import { type SlotBookingService, SlotBookingState } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { listHolds } from '../../../shared/holds/list.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BookingRow, bookingKind, toBooking } from '../bookings/booking.ts';
import type { BookingParts } from '../parts.ts';

/** Design 15, listBookings: bookings, newest first. Throws INVALID_ARGUMENT for a page token of other filters. */
export function listBookings({
  database,
}: Pick<BookingParts, 'database'>): Handler<typeof SlotBookingService.method.listBookings> {
  const list = listHolds<BookingRow>('listBookings', bookingKind, {
    slotId: 'slot_id = $slotId',
    orderKey: 'order_key = $orderKey',
    userId: 'user_id = $userId',
  });
  return async ({ slotId, orderKey, userId, states, ...page }, call) => {
    const asked = states.map((state) => SlotBookingState[state]);
    const { rows, ...next } = await list(database.for(call), { slotId, orderKey, userId }, asked, page);
    return { bookings: mapped(rows, toBooking), ...next };
  };
}
