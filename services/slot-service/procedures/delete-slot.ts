import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { appendRefreshRequest, requestIdColumn, scheduleRefresh } from '../stores/requests.ts';

/** Spec 4.1, deleteSlot: deactivates the slot and keeps its record. Throws NOT_FOUND. */
export function deleteSlot(parts: SlotParts): Handler<typeof SlotService.method.deleteSlot> {
  return async ({ id }, call) => {
    const [slot] = await parts.database.for(call).query(deactivateSlot({ id }));
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    scheduleRefresh(parts, call, slot.storeRequestId);
    return { message: 'Slot deleted successfully' };
  };
}

const deactivateSlot = statement<{ storeRequestId: string }, { id: number }>(
  'deleteSlot',
  `with written as (update slots set is_active = false where id = $id returning id),
   ${appendRefreshRequest('written')}
   select ${requestIdColumn} from written as slots`,
);
