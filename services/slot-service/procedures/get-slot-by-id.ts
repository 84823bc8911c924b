import { statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { SlotDetailResponse } from '../encoding/slot-detail.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { flattenSequence } from '../slots/delivery-sequence.ts';
import { type ProductSlotRow, type SlotRow, slotColumns } from '../slots/slot.ts';

/** Spec 4.1, getSlotById: a slot in either state, with its products and snippets. Throws NOT_FOUND. */
export function getSlotById({ database, appUrl }: SlotParts): Handler<typeof SlotService.method.getSlotById> {
  return async ({ id }, call) => {
    const [slot] = await database.for(call).query(selectSlot({ id }));
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    const vendorSnippets = slot.vendorSnippets.map(({ validTill, ...snippet }) => ({
      ...snippet,
      validTill: validTill === null ? null : new Date(validTill),
      accessUrl: `${appUrl}/vendor-order-list?id=${encodeURIComponent(snippet.snippetCode)}`,
    }));
    return new SlotDetailResponse({ slot, deliverySequence: flattenSequence(slot.deliverySequence), vendorSnippets });
  };
}

interface SlotDetailRow extends SlotRow {
  /** In the order of their product ids; a product that does not exist is null. */
  productSlots: ProductSlotRow[];
  /** With `validTill` in epoch milliseconds. */
  vendorSnippets: { snippetCode: string; slotId: number; productIds: number[]; validTill: number | null }[];
}

const selectSlot = statement<SlotDetailRow, { id: number }>(
  'getSlotById',
  `select ${slotColumns},
     coalesce((
       select jsonb_agg(jsonb_build_object(
         'slotId', slot_id, 'productId', product_id,
         'product', case when products.id is not null
           then jsonb_build_object('id', products.id, 'name', products.name, 'images', products.images) end
       ) order by product_id)
       from product_slots left join products on products.id = product_id
       where slot_id = slots.id
     ), '[]') as "productSlots",
     coalesce((
       select jsonb_agg(jsonb_build_object(
         'snippetCode', snippet_code, 'slotId', slot_id, 'productIds', product_ids,
         'validTill', extract(epoch from valid_till) * 1000
       ) order by id)
       from vendor_snippets where slot_id = slots.id
     ), '[]') as "vendorSnippets"
   from slots where id = $id`,
);
