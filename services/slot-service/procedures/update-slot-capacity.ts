import { type Actor, actorOf, auditEntry, changeOf, keptRecord } from '../../../shared/audit/entry.ts';
import { etagMatches, type Guard } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { type SlotRow, slotColumns, toSlot } from '../slots/slot.ts';
import { afterSlotWrite, staleSlots } from '../stores/after-slot-write.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';

/** Spec 4.1, updateSlotCapacity. Throws NOT_FOUND, and ABORTED for an outdated etag. */
export function updateSlotCapacity(parts: SlotParts): Handler<typeof SlotService.method.updateSlotCapacity> {
  return async ({ slotId, isCapacityFull, etag }, call) => {
    const set = setCapacity({ ...actorOf(call), slotId, isCapacityFull, etag });
    const [slot] = await parts.database.for(call).query(set);
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    if (slot.id === null) throw staleSlots(parts, call, [slotId]);
    afterSlotWrite(parts, call, slot.storeRequestId, [slot.id]);
    const message = isCapacityFull ? 'Slot marked as full capacity' : 'Slot capacity reset';
    return { success: true, slot: toSlot(slot), message };
  };
}

const setCapacity = statement<
  (SlotRow & { storeRequestId: string }) | { id: null },
  { slotId: number; isCapacityFull: boolean } & Actor & Guard
>(
  'updateSlotCapacity',
  `with seen as (select * from slots where id = $slotId for no key update),
   ${changeOf(
     `select id, json_build_object('isCapacityFull', is_capacity_full) as before,
        json_build_object('isCapacityFull', $isCapacityFull::boolean) as after
      from seen where ${etagMatches}`,
   )},
   written as (
     update slots set is_capacity_full = $isCapacityFull, etag = default
     from change where slots.id = change.id and differs
     returning slots.*
   ),
   ${auditEntry('slot')},
   ${keptRecord},
   ${appendRefreshRequest('id', 'kept')}
   select ${slotColumns}, ${storeRequestIdColumn} from seen left join kept as slots on true`,
);
