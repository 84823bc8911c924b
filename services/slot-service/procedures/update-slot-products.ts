import { type Actor, actorOf, auditEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite, etagMatches, type Guard, isAsSeen } from '../../../shared/db/races.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import { lockSlot } from '../slots/slot-lock.ts';
import { afterSlotWrite, staleSlots } from '../stores/after-slot-write.ts';
import { appendRefreshRequest, storeRequestIdColumn } from '../stores/requests.ts';

/**
 * Spec 4.1, updateSlotProducts: makes a slot's product set equal to the given one. Existence is not checked. `added`
 * and `removed` count distinct products. Throws ABORTED for an outdated etag.
 */
export function updateSlotProducts(parts: SlotParts): Handler<typeof SlotService.method.updateSlotProducts> {
  return async ({ slotId, productIds, etag }, call) => {
    call.chargeRows(productIds.length);
    const replacement = { ...actorOf(call), slotId, productIds, etag };
    const db = parts.database.for(call);
    const found = await conditionalWrite((isRerun) =>
      db.pipeline(isRerun ? [lockSlot({ slotId })] : [], replaceProducts({ ...replacement, isLocked: isRerun })),
    );
    if (!found.mayWrite) throw staleSlots(parts, call, [slotId]);
    const { added, removed, storeRequestId } = found;
    afterSlotWrite(parts, call, storeRequestId, [slotId]);
    return { message: 'Slot products updated successfully', added, removed };
  };
}

/** SQL of the condition that permits the write. */
const mayWrite = `($etag = '' or exists (select from seen where ${etagMatches}))`;

// All statements insert in the order of product ids, which prevents deadlocks.
const replaceProducts = statement<
  { id: number | null; added: number; removed: number; mayWrite: boolean; storeRequestId: string },
  { slotId: number; productIds: readonly number[]; isLocked: boolean } & Actor & Guard
>(
  'updateSlotProducts',
  `with seen as (select id, etag, xmin from slots where id = $slotId),
   compared as (
     select product_id, stored.product_id is null as is_added, listed.product_id is null as is_removed
     from (select product_id from product_slots where slot_id = $slotId) as stored
       full join (select unnest($productIds::integer[]) as product_id) as listed using (product_id)
   ),
   difference as materialized (
     select $slotId as id, count(*) filter (where is_added)::integer as added, count(*) filter (where is_removed)::integer as removed,
       count(*) > 100 as may_be_long, json_agg(product_id order by product_id) filter (where not is_added) as before,
       json_agg(product_id order by product_id) filter (where not is_removed) as after
     from compared
   ),
   change as (select *, added + removed > 0 as differs from difference where ${mayWrite}),
   slot as (
     update slots set etag = default from seen join change using (id) where differs and ${isAsSeen('slots')}
     returning slots.id
   ),
   written as (
     select id from slot
     -- A missing slot has no row to lock, so its products are written only under the advisory lock.
     union all select id from change where differs and $isLocked::boolean and not exists (select from seen)
   ),
   removed as (
     delete from product_slots using written
     where slot_id = written.id and product_id = any(array(select product_id from compared where is_removed))
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select written.id, product_id from written, compared where is_added
     order by product_id
   ),
   ${auditEntry(
     'slot',
     `select id, case when ids is null then json_build_object('productIds', coalesce(before, '[]')) else '{}' end as before,
        json_build_object('productIds', coalesce(ids, after, '[]')) as after
      from written join change using (id),
        -- Most writes change few ids, and are spared the call of the function.
        lateral (select case when may_be_long then changed_ids(before, after) end as ids offset 0) as changed`,
   )},
   kept as (select id from written union all select id from change where not differs),
   ${appendRefreshRequest('id', 'kept')}
   select added, removed, (select id from kept) as id, ${mayWrite} as "mayWrite", ${storeRequestIdColumn}
   from difference`,
);
