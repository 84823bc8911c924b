import { statement } from '../../../shared/db/statement.ts';
import type { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { judgedSlot, leftOf, refusalOf } from '../bookings/room.ts';
import type { BookingParts } from '../parts.ts';
import { type SlotCounts, toCounts } from '../slots/slot.ts';

/** Design 15, getAvailability: what is left of slots now, in the order of the request. */
export function getAvailability({
  database,
}: Pick<BookingParts, 'database'>): Handler<typeof SlotBookingService.method.getAvailability> {
  return async ({ slotIds }, call) => {
    const rows = await database.for(call).query(selectAvailability({ slotIds }));
    return {
      slots: mapped(rows, (slot) => ({ ...slot, ...toCounts(slot), remaining: slot.remaining ?? undefined })),
    };
  };
}

interface AvailabilityRow extends Omit<SlotCounts, 'windowMinutes'> {
  slotId: number;
  exists: boolean;
  isOpen: boolean;
  remaining: number | null;
}

const selectAvailability = statement<AvailabilityRow, { slotIds: readonly number[] }>(
  'getAvailability',
  `select asked.slot_id as "slotId", slot.id is not null as "exists",
     slot.id is not null and ${refusalOf('1')} is null as "isOpen",
     slot.capacity, slot.in_use as booked, ${leftOf('0')} as remaining
   from unnest($slotIds::integer[]) with ordinality as asked (slot_id, place) left join lateral (
     ${judgedSlot('asked.slot_id')} offset 0
   ) as slot on true
   order by place`,
);
