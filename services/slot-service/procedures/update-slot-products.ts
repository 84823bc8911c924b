import { type Actor, actorOf, auditEntry } from '../../../shared/audit/entry.ts';
import { etagMatches, freshWrite, type Guard } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import { lockSlot } from '../slots/slot-lock.ts';
import { appendRefreshRequest, requestIdColumn } from '../stores/requests.ts';
import { afterSlotWrite, staleSlot } from '../stores/slot-written.ts';

/**
 * Spec 4.1, updateSlotProducts: makes a slot's product set equal to the given one. Existence is not
 * checked. `added` and `removed` count distinct products. Throws ABORTED for an etag that is not the slot's.
 */
export function updateSlotProducts(parts: SlotParts): Handler<typeof SlotService.method.updateSlotProducts> {
  return async ({ slotId, productIds, etag }, call) => {
    const replacement = { ...actorOf(call), slotId, productIds, etag };
    const db = parts.database.for(call);
    const found = await freshWrite((isLocked) =>
      db.batch(isLocked ? [lockSlot({ slotId })] : [], replaceProducts({ ...replacement, isLocked })),
    );
    if (!found.isCurrent) throw staleSlot(parts, call, slotId);
    const { added, removed, storeRequestId } = found;
    afterSlotWrite(parts, call, { id: slotId, storeRequestId });
    return { message: 'Slot products updated successfully', added, removed };
  };
}

// All statements insert in the order of the product ids, so that none of them deadlock.
const replaceProducts = statement<
  { added: number; removed: number; isFresh: boolean; isCurrent: boolean; storeRequestId: string },
  { slotId: number; productIds: readonly number[]; isLocked: boolean } & Actor & Guard
>(
  'updateSlotProducts',
  `with seen as (select etag from slots where id = $slotId),
   old as (select id, etag from slots where id = $slotId for no key update),
   found as (
     select
       -- A slot that does not exist can't be locked by this statement.
       $isLocked::boolean or exists (select from seen join old using (etag)) as "isFresh",
       $etag = '' or exists (select from old where ${etagMatches('old')}) as "isCurrent"
   ),
   allowed as (select $slotId::integer as slot_id from found where "isFresh" and "isCurrent"),
   written as (update slots set etag = default from allowed where slots.id = allowed.slot_id),
   listed as (select slot_id, unnest((select $productIds::integer[])) as product_id from allowed),
   removed as (
     delete from product_slots using allowed
     where product_slots.slot_id = allowed.slot_id and product_id not in (select product_id from listed)
     returning product_id
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select slot_id, product_id from listed
     order by product_id
     on conflict do nothing
     returning product_id
   ),
   ${auditEntry(
     'slot',
     `select slot_id as id,
        json_build_object('productIds', array_to_json(array(
          select product_id from product_slots where slot_id = $slotId order by product_id
        ))) as before,
        json_build_object('productIds', array_to_json(array(select product_id from listed order by product_id))) as after
      from allowed`,
   )},
   ${appendRefreshRequest('slot_id', 'allowed')}
   select (select count(*) from added)::integer as added, (select count(*) from removed)::integer as removed,
     "isFresh", "isCurrent", ${requestIdColumn}
   from found`,
);
