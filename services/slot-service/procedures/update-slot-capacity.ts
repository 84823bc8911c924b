import { type Actor, actorOf, auditEntry } from '../../../shared/audit/entry.ts';
import { etagMatches, type Guard } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { type SlotRow, slotColumns, toSlot } from '../slots/slot.ts';
import { appendRefreshRequest, requestIdColumn } from '../stores/requests.ts';
import { afterSlotWrite, staleSlot } from '../stores/slot-written.ts';

/** Spec 4.1, updateSlotCapacity. Throws NOT_FOUND, ABORTED for an etag that is not the slot's. */
export function updateSlotCapacity(parts: SlotParts): Handler<typeof SlotService.method.updateSlotCapacity> {
  return async ({ slotId, isCapacityFull, etag }, call) => {
    const set = setCapacity({ ...actorOf(call), slotId, isCapacityFull, etag });
    const [slot] = await parts.database.for(call).query(set);
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    if (slot.id === null) throw staleSlot(parts, call, slotId);
    afterSlotWrite(parts, call, slot);
    const message = isCapacityFull ? 'Slot marked as full capacity' : 'Slot capacity reset';
    return { success: true, slot: toSlot(slot), message };
  };
}

const setCapacity = statement<
  (SlotRow & { storeRequestId: string }) | { id: null },
  { slotId: number; isCapacityFull: boolean } & Actor & Guard
>(
  'updateSlotCapacity',
  `with old as (select id, is_capacity_full, etag from slots where id = $slotId for no key update),
   written as (
     update slots set is_capacity_full = $isCapacityFull, etag = default
     from old where slots.id = old.id and ${etagMatches('old')}
     returning slots.*
   ),
   ${auditEntry(
     'slot',
     `select id, json_build_object('isCapacityFull', old.is_capacity_full) as before,
        json_build_object('isCapacityFull', written.is_capacity_full) as after
      from old join written using (id)`,
   )},
   ${appendRefreshRequest('id', 'written')}
   select ${slotColumns}, ${requestIdColumn} from old left join written as slots on true`,
);
