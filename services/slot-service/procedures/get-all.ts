import { statement } from '../../../shared/db/statement.ts';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import { GetAllResponseSchema, type SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { mapped, type Shared } from '../../../shared/rpc/answers/answer.ts';
import { share } from '../../../shared/rpc/answers/message-encoder.ts';
import { shareResponse } from '../../../shared/rpc/answers/share-response.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { maxProductBytes, productBytes } from '../catalog/catalog.ts';
import type { SlotParts } from '../parts.ts';
import { type ProductRow, slotColumns, toProduct, toSlot } from '../slots/slot.ts';
import { areSlotsTooLarge, type ListedOr, type ListedSlotRow, listedRows } from '../slots/slot-list.ts';

/** The associations of a list: each is shown twice, with its product. */
const maxAssociations = 700_000;

/**
 * Spec 4.1, getAll: lists the active slots with `products` and `productSlots`, latest delivery first. An
 * association whose product does not exist appears only in `productSlots` (design 7). Throws RESOURCE_EXHAUSTED for
 * a list that is too large.
 */
export function getAll({ database }: SlotParts): Handler<typeof SlotService.method.getAll> {
  const readSlots = shareResponse(database, GetAllResponseSchema, async (db) => {
    const rows = listedRows(await db.query(selectSlots()));
    const products = new Map(rows[0]?.products?.map((row) => [row.id, share(ProductSummarySchema, toProduct(row))]));
    return { slots: mapped(rows, (row) => toListedSlot(row, products)), count: rows.length };
  });
  return (_request, call) => readSlots(call);
}

function toListedSlot(row: ListedSlotRow, known: ReadonlyMap<number, Shared>) {
  const { id: slotId, productIds } = row;
  return {
    ...toSlot(row),
    products: productIds.map((id) => known.get(id)).filter((product) => product !== undefined),
    productSlots: mapped(productIds, (productId) => ({ slotId, productId, product: known.get(productId) })),
  };
}

// The first row has all products, so that a product is not repeated for each of its slots. "offset 0" makes the planner
// count slot by slot, so that it stops at the limit.
const selectSlots = statement<ListedOr<ListedSlotRow & { products: ProductRow[] | null }>>(
  'getAll',
  `with size as (
     select ${areSlotsTooLarge} or (
       select count(*) > ${maxAssociations}
       from (
         select from slots, lateral (select from product_slots where slot_id = slots.id offset 0) as associations
         where is_active limit ${maxAssociations} + 1
       ) as counted
     ) as is_too_large
   ),
   slots as materialized (
     select *, array(
       select product_id from product_slots where slot_id = slots.id order by product_id
     ) as associated
     from slots where is_active and not (select is_too_large from size)
   ),
   shown as materialized (
     select id, name, images from products where id in (select unnest(associated) from slots)
   ),
   verdict as materialized (
     select is_too_large or (
       select coalesce(sum(${productBytes}), 0) > ${maxProductBytes} from shown as products
     ) as is_too_large
     from size
   )
   select ${slotColumns}, array_to_json(associated) as "productIds",
     case when not is_too_large and row_number() over latest_first = 1 then (
       select json_agg(json_build_object('id', id, 'name', name, 'images', images)) from shown
     ) end as products
   from verdict left join slots on not is_too_large
   where is_too_large or slots.id is not null
   window latest_first as (order by delivery_time desc, id desc)
   order by delivery_time desc, id desc`,
);
