import { statement } from '../../../shared/db/statement.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { SlotDetailResponse } from '../encoding/slot-detail.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { flattenSequence } from '../slots/delivery-sequence.ts';
import { type ProductSlotRow, type SlotRow, slotColumns } from '../slots/slot.ts';
import { maxProductIds } from '../slots/slot-list.ts';

/**
 * Spec 4.1, getSlotById: a slot in either state, with its products and snippets. Throws NOT_FOUND, and
 * RESOURCE_EXHAUSTED for more than a million product ids.
 */
export function getSlotById({ database, appUrl }: SlotParts): Handler<typeof SlotService.method.getSlotById> {
  return async ({ id }, call) => {
    const [slot] = await database.for(call).query(selectSlot({ id }));
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    if (slot.isTooLarge) throw fail(commonErrors.answerTooLarge);
    const productSlots = slot.productSlots.map(([productId, name, images]): ProductSlotRow => {
      return { slotId: id, productId, product: name === null ? null : { id: productId, name, images } };
    });
    const vendorSnippets = slot.vendorSnippets.map(({ validTill, ...snippet }) => ({
      ...snippet,
      validTill: validTill === null ? null : new Date(validTill),
      accessUrl: `${appUrl}/vendor-order-list?id=${encodeURIComponent(snippet.snippetCode)}`,
    }));
    const deliverySequence = flattenSequence(slot.deliverySequence);
    return new SlotDetailResponse({ slot: { ...slot, productSlots }, deliverySequence, vendorSnippets });
  };
}

interface SlotDetailRow extends SlotRow {
  /** Then there are neither products nor snippets. */
  isTooLarge: boolean;
  /** In the order of their product ids; a product that does not exist has nulls. */
  productSlots: [productId: number, ...product: [name: string, images: string[]] | [null, null]][];
  /** With `validTill` in epoch milliseconds. */
  vendorSnippets: { snippetCode: string; slotId: number; productIds: number[]; validTill: number | null }[];
}

const selectSlot = statement<SlotDetailRow, { id: number }>(
  'getSlotById',
  // A slot has 100,000 products at most, but any number of snippets. An id takes 4 bytes: the arrays
  // themselves are not read to count them.
  `with size as (
     select coalesce(sum(1 + pg_column_size(product_ids) / 4), 0) > ${maxProductIds} as "isTooLarge"
     from (select product_ids from vendor_snippets where slot_id = $id limit ${maxProductIds} + 1) as snippets
   )
   select "isTooLarge", ${slotColumns},
     coalesce((
       select json_agg(json_build_array(product_id, products.name, products.images) order by product_id)
       from product_slots left join products on products.id = product_id
       where slot_id = slots.id and not "isTooLarge"
     ), '[]') as "productSlots",
     coalesce((
       select jsonb_agg(jsonb_build_object(
         'snippetCode', snippet_code, 'slotId', slot_id, 'productIds', product_ids,
         'validTill', extract(epoch from valid_till) * 1000
       ) order by id)
       from vendor_snippets where slot_id = slots.id and not "isTooLarge"
     ), '[]') as "vendorSnippets"
   from slots, size where id = $id`,
);
