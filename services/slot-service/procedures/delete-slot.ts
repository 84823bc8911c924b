import { type Actor, actorOf, auditEntry, changeOf, keptRecord } from '../../../shared/audit/entry.ts';
import { etagMatches, type Guard } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { afterSlotWrite, staleSlots } from '../stores/after-slot-write.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';

/**
 * Spec 4.1, deleteSlot: deactivates the slot and keeps its record. Throws NOT_FOUND, and ABORTED for an outdated etag.
 */
export function deleteSlot(parts: SlotParts): Handler<typeof SlotService.method.deleteSlot> {
  return async ({ id, etag }, call) => {
    const [slot] = await parts.database.for(call).query(deactivateSlot({ ...actorOf(call), id, etag }));
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    if (slot.id === null) throw staleSlots(parts, call, [id]);
    afterSlotWrite(parts, call, slot.storeRequestId, [slot.id]);
    return { message: 'Slot deleted successfully' };
  };
}

const deactivateSlot = statement<{ id: number; storeRequestId: string } | { id: null }, { id: number } & Actor & Guard>(
  'deleteSlot',
  `with seen as (select id, is_active, etag from slots where id = $id for no key update),
   ${changeOf(
     `select id, json_build_object('isActive', is_active) as before, json_build_object('isActive', false) as after
      from seen where ${etagMatches}`,
   )},
   written as (
     update slots set is_active = false, etag = default
     from change where slots.id = change.id and differs
     returning slots.id, slots.is_active, slots.etag
   ),
   ${auditEntry('slot')},
   ${keptRecord},
   ${appendRefreshRequest('id', 'kept')}
   select kept.id, ${storeRequestIdColumn} from seen left join kept on true`,
);
