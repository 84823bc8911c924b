import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Locks } from '../../../shared/rpc/implementation.ts';

/** The slots whose units calls lock: many orders may want the same one. */
export function bookingLocks(database: Database): Locks<typeof SlotBookingService> {
  const slotOf = async ({ bookingId }: { readonly bookingId: number }, call: CallContext) =>
    (await database.for(call).query(selectSlot({ bookingId }))).map(({ slotId }) => `slot ${slotId}`);
  return {
    book: async ({ slotId }) => [`slot ${slotId}`],
    confirm: slotOf,
    release: slotOf,
    move: async (request, call) => [...(await slotOf(request, call)), `slot ${request.slotId}`],
  };
}

const selectSlot = statement<{ slotId: number }, { bookingId: number }>(
  'slotOfBooking',
  'select slot_id as "slotId" from slot_bookings where id = $bookingId',
);
