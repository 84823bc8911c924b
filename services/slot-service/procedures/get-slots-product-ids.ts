import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { ProductIdsResponse } from '../encoding/product-ids.ts';
import type { SlotParts } from '../parts.ts';

/** Spec 4.1, getSlotsProductIds: every requested slot has an entry, empty when it has no products. */
export function getSlotsProductIds({ database }: SlotParts): Handler<typeof SlotService.method.getSlotsProductIds> {
  return async ({ slotIds }, call) => {
    const productIds = new Map<number, number[]>(slotIds.map((id) => [id, []]));
    const rows = slotIds.length === 0 ? [] : await database.for(call).query(selectIds({ slotIds }));
    for (const row of rows) productIds.set(row.slotId, row.productIds);
    return new ProductIdsResponse(productIds);
  };
}

const selectIds = statement<{ slotId: number; productIds: number[] }, { slotIds: readonly number[] }>(
  'getSlotsProductIds',
  `select slot_id as "slotId", json_agg(product_id order by product_id) as "productIds"
   from product_slots
   where slot_id = any($slotIds)
   group by slot_id`,
);
