import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { type SlotRow, slotColumns, toSlot } from '../slots/slot.ts';
import { appendRefreshRequest, requestIdColumn, scheduleRefresh } from '../stores/requests.ts';

/** Spec 4.1, updateSlotCapacity. Throws NOT_FOUND. */
export function updateSlotCapacity(parts: SlotParts): Handler<typeof SlotService.method.updateSlotCapacity> {
  return async ({ slotId, isCapacityFull }, call) => {
    const [slot] = await parts.database.for(call).query(setCapacity({ slotId, isCapacityFull }));
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    scheduleRefresh(parts, call, slot.storeRequestId);
    const message = isCapacityFull ? 'Slot marked as full capacity' : 'Slot capacity reset';
    return { success: true, slot: toSlot(slot), message };
  };
}

const setCapacity = statement<SlotRow & { storeRequestId: string }, { slotId: number; isCapacityFull: boolean }>(
  'updateSlotCapacity',
  `with written as (update slots set is_capacity_full = $isCapacityFull where id = $slotId returning *),
   ${appendRefreshRequest('written')}
   select ${slotColumns}, ${requestIdColumn} from written as slots`,
);
