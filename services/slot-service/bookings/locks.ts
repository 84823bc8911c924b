import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Locks } from '../../../shared/rpc/implementation.ts';

/**
 * The locks at which calls take turns. Many orders may want the same slot: their calls lock its units. For a booking,
 * the slot is looked up, which costs a round trip. If the booking moves afterwards, the call has a turn at the wrong
 * slot, which does no harm: the locks of the database decide. Moves, which lock two slots, have turns of their own. With
 * one at each slot they would keep it while they wait for the other.
 */
export function bookingLocks(database: Database): Locks<typeof SlotBookingService> {
  const nameOf = (slotId: number) => `slot ${slotId}`;
  const slotOf = async ({ bookingId }: { readonly bookingId: number }, call: CallContext) => {
    const [booking] = await database.for(call).query(selectSlot({ bookingId }));
    return booking && nameOf(booking.slotId);
  };
  return {
    book: async ({ slotId }) => nameOf(slotId),
    confirm: slotOf,
    release: slotOf,
    move: async () => 'moves',
  };
}

const selectSlot = statement<{ slotId: number }, { bookingId: number }>(
  'slotOfBooking',
  'select slot_id as "slotId" from slot_bookings where id = $bookingId',
);
