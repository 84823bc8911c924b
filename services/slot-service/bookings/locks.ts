import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Locks } from '../../../shared/rpc/implementation.ts';

/**
 * The slots whose units each call locks, for its turn: many orders may want the same one. For a booking, the slot is
 * looked up, which costs a round trip. If the booking moves afterwards, the call has a turn at the wrong slot, which
 * does no harm: the locks of the database decide.
 */
export function bookingLocks(database: Database): Locks<typeof SlotBookingService> {
  const nameOf = (slotId: number) => `slot ${slotId}`;
  const slotsOf = async ({ bookingId }: { readonly bookingId: number }, call: CallContext) =>
    (await database.for(call).query(selectSlot({ bookingId }))).map(({ slotId }) => nameOf(slotId));
  return {
    book: async ({ slotId }) => [nameOf(slotId)],
    confirm: slotsOf,
    release: slotsOf,
    move: async (request, call) => [...(await slotsOf(request, call)), nameOf(request.slotId)],
  };
}

const selectSlot = statement<{ slotId: number }, { bookingId: number }>(
  'slotOfBooking',
  'select slot_id as "slotId" from slot_bookings where id = $bookingId',
);
