import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { ProductIdsResponse } from '../encoding/product-ids.ts';
import type { SlotParts } from '../parts.ts';
import { maxProductIds } from '../slots/slot-list.ts';

/**
 * Spec 4.1, getSlotsProductIds: every requested slot has an entry, empty when it has no products. Throws
 * RESOURCE_EXHAUSTED for more than a million product ids.
 */
export function getSlotsProductIds({ database }: SlotParts): Handler<typeof SlotService.method.getSlotsProductIds> {
  return async ({ slotIds }, call) => {
    const productIds = new Map<number, number[]>(slotIds.map((id) => [id, []]));
    const rows = slotIds.length === 0 ? [] : await database.for(call).query(selectIds({ slotIds }));
    const count = rows.reduce((sum, row) => sum + row.productIds.length, 0);
    if (count > maxProductIds) throw fail(commonErrors.answerTooLarge);
    for (const row of rows) productIds.set(row.slotId, row.productIds);
    return new ProductIdsResponse(productIds);
  };
}

// One id more than an answer may have is read at most, in the order of the index.
const selectIds = statement<{ slotId: number; productIds: number[] }, { slotIds: readonly number[] }>(
  'getSlotsProductIds',
  `select slot_id as "slotId", json_agg(product_id order by product_id) as "productIds"
   from (
     select slot_id, product_id from product_slots where slot_id = any($slotIds)
     order by slot_id, product_id limit ${maxProductIds} + 1
   ) as associations
   group by slot_id`,
);
