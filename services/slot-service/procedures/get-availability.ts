import { statement } from '../../../shared/db/statement.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { leftOf, refusalOf, slotRow } from '../bookings/room.ts';
import type { BookingParts } from '../parts.ts';

/** Design 15, getAvailability: what is left of slots now, in the order of the request. */
export function getAvailability({
  database,
}: Pick<BookingParts, 'database'>): Handler<typeof SlotBookingService.method.getAvailability> {
  return async ({ slotIds }, call) => {
    const rows = await database.for(call).query(selectAvailability({ slotIds }));
    const slots = new Map(rows.map((row) => [row.slotId, row]));
    return {
      slots: mapped(slotIds, (slotId) => {
        const slot = slots.get(slotId);
        // Spreads took a fifth of a call's time for 1,000 slots.
        return {
          slotId,
          exists: slot !== undefined,
          isOpen: slot?.isOpen ?? false,
          capacity: slot?.capacity ?? undefined,
          booked: slot?.booked ?? undefined,
          remaining: slot?.remaining ?? undefined,
        };
      }),
    };
  };
}

interface AvailabilityRow {
  slotId: number;
  isOpen: boolean;
  capacity: number | null;
  booked: number | null;
  remaining: number | null;
}

// One scan finds the slots, in any order. A look-up of each would read 1.7 times as many blocks.
const selectAvailability = statement<AvailabilityRow, { slotIds: readonly number[] }>(
  'getAvailability',
  `with ${slotRow('any($slotIds::integer[])')}
   select id as "slotId", ${refusalOf('1')} is null as "isOpen", capacity, in_use as booked, ${leftOf('0')} as remaining
   from slot`,
);
