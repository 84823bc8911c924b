import { statement } from '../../../shared/db/statement.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { ListedSlotsResponse } from '../encoding/slot-lists.ts';
import type { SlotParts } from '../parts.ts';
import { type ListedSlotRow, type ProductRow, slotColumns } from '../slots/slot.ts';

/**
 * Spec 4.1, getAll: the active slots with `products` and `productSlots`, latest delivery first. An
 * association whose product does not exist is in `productSlots` alone (design 7).
 */
export function getAll({ database }: SlotParts): Handler<typeof SlotService.method.getAll> {
  return async (_request, call) => {
    const slots = await database.for(call).query(selectSlots());
    const products = new Map(slots[0]?.products?.map((product) => [product.id, product]));
    return new ListedSlotsResponse(slots, products);
  };
}

// The products that exist come once, with the first row, and not again for each slot that has them.
const selectSlots = statement<ListedSlotRow & { products: ProductRow[] | null }>(
  'getAll',
  `with slots as materialized (
     select *, array(
       select product_id from product_slots where slot_id = slots.id order by product_id
     ) as associated
     from slots where is_active
   )
   select ${slotColumns}, array_to_json(associated) as "productIds",
     case when row_number() over latest_first = 1 then (
       select json_agg(json_build_object('id', products.id, 'name', products.name, 'images', products.images))
       from products where products.id in (select unnest(associated) from slots)
     ) end as products
   from slots
   window latest_first as (order by delivery_time desc, id desc)
   order by delivery_time desc, id desc`,
);
