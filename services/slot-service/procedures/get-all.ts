import { statement } from '../../../shared/db/statement.ts';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import {
  GetAllResponseSchema,
  ListedSlotSchema,
  ProductSlotSchema,
  type SlotService,
} from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type EncodedFields, sharedFields, valueField } from '../../../shared/rpc/protobuf/fields-encoder.ts';
import { LongResponse, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { shareResponse } from '../../../shared/rpc/protobuf/shared-response.ts';
import type { SlotParts } from '../parts.ts';
import { type ProductRow, sequenceText, slotColumns, toProduct, toSlotFields } from '../slots/slot.ts';
import {
  areSlotsTooLarge,
  type ListedOr,
  type ListedSlotRow,
  listedRows,
  maxProductIds,
  sequenceSize,
} from '../slots/slot-list.ts';

/**
 * Spec 4.1, getAll: lists the active slots with `products` and `productSlots`, latest delivery first. An
 * association whose product does not exist appears only in `productSlots` (design 7). Throws RESOURCE_EXHAUSTED for
 * a list that is too large.
 */
export function getAll({ database }: SlotParts): Handler<typeof SlotService.method.getAll> {
  const readSlots = shareResponse(database, async (db) => {
    const rows = listedRows(await db.query(selectSlots()));
    const products = new Map(rows[0]?.products?.map((product) => [product.id, encodeProduct(product)]));
    const slots = longList(GetAllResponseSchema.field.slots, rows, (row) => toListedSlot(row, products), sequenceSize);
    return new LongResponse(longMessage(GetAllResponseSchema, { count: rows.length }, [slots]));
  });
  return (_request, call) => readSlots(call);
}

/** A product that is encoded once, for all slots that have it. */
interface EncodedProduct {
  readonly summary: EncodedFields;
  /** The association, but for the slot. */
  readonly association: EncodedFields;
}

function encodeProduct(row: ProductRow): EncodedProduct {
  const product = toProduct(row);
  return {
    summary: sharedFields(ProductSummarySchema, product),
    association: sharedFields(ProductSlotSchema, { productId: product.id, product }),
  };
}

function toListedSlot(slot: ListedSlotRow, known: ReadonlyMap<number, EncodedProduct>) {
  const { products, productSlots, deliverySequence } = ListedSlotSchema.field;
  const { id: slotId, productIds } = slot;
  const lists = [
    longList(
      products,
      productIds.flatMap((id) => known.get(id) ?? []),
      ({ summary }) => longMessage(ProductSummarySchema, {}, [], summary),
    ),
    longList(productSlots, productIds, (productId) => {
      const association = known.get(productId)?.association;
      return longMessage(ProductSlotSchema, association ? { slotId } : { slotId, productId }, [], association);
    }),
  ];
  return longMessage(ListedSlotSchema, toSlotFields(slot), lists, valueField(deliverySequence, sequenceText(slot)));
}

// The first row has all products, so that a product is not repeated for each of its slots. "offset 0" makes the planner
// count slot by slot, so that it stops at the limit.
const selectSlots = statement<ListedOr<ListedSlotRow & { products: ProductRow[] | null }>>(
  'getAll',
  `with size as (
     select ${areSlotsTooLarge} or (
       select count(*) > ${maxProductIds}
       from (
         select from slots, lateral (select from product_slots where slot_id = slots.id offset 0) as associations
         where is_active limit ${maxProductIds} + 1
       ) as counted
     ) as is_too_large
   ),
   slots as materialized (
     select *, array(
       select product_id from product_slots where slot_id = slots.id order by product_id
     ) as associated
     from slots where is_active and not (select is_too_large from size)
   )
   select ${slotColumns}, slots.shown_bytes as "shownBytes", array_to_json(associated) as "productIds",
     case when row_number() over latest_first = 1 then (
       select json_agg(json_build_object('id', products.id, 'name', products.name, 'images', products.images))
       from products where products.id in (select unnest(associated) from slots)
     ) end as products
   from size left join slots on true
   where is_too_large or slots.id is not null
   window latest_first as (order by delivery_time desc, id desc)
   order by delivery_time desc, id desc`,
);
