import { onlyRow, statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotParts } from '../parts.ts';
import { lockSlotProducts } from '../slots/product-locks.ts';
import { appendRefreshRequest, requestIdColumn, scheduleRefresh } from '../stores/requests.ts';

/**
 * Spec 4.1, updateSlotProducts: makes a slot's product set equal to the given one. Existence is not
 * checked. `added` and `removed` count distinct products.
 */
export function updateSlotProducts(parts: SlotParts): Handler<typeof SlotService.method.updateSlotProducts> {
  return async ({ slotId, productIds }, call) => {
    const db = parts.database.for(call);
    const rows = await db.batch([lockSlotProducts({ slotId })], replaceProducts({ slotId, productIds }));
    const { added, removed, storeRequestId } = onlyRow(rows);
    scheduleRefresh(parts, call, storeRequestId);
    return { message: 'Slot products updated successfully', added, removed };
  };
}

// All statements insert in the order of the product ids, so that none of them deadlock.
const replaceProducts = statement<
  { added: number; removed: number; storeRequestId: string },
  { slotId: number; productIds: readonly number[] }
>(
  'updateSlotProducts',
  `with listed as (select unnest($productIds::integer[]) as product_id),
   removed as (
     delete from product_slots
     where slot_id = $slotId and product_id not in (select product_id from listed)
     returning product_id
   ),
   added as (
     insert into product_slots (slot_id, product_id)
     select $slotId, product_id from listed
     order by product_id
     on conflict do nothing
     returning product_id
   ),
   -- Always, because existence is not checked.
   ${appendRefreshRequest('(values (1)) as call')}
   select (select count(*) from added)::integer as added, (select count(*) from removed)::integer as removed,
     ${requestIdColumn}`,
);
