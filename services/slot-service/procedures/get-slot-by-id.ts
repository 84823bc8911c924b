import { fail } from '../../../shared/errors/errors.ts';
import { GetSlotByIdResponseSchema, type SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { keyedStatement, readBySize, type Sized } from '../../../shared/reads/shared-read.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { AnswerResponse } from '../../../shared/rpc/answers/response.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { maxProductBytes, productBytes } from '../catalog/catalog.ts';
import { slotErrors } from '../errors.ts';
import type { SlotParts } from '../parts.ts';
import { flattenSequence } from '../slots/delivery-sequence.ts';
import { type SlotRow, sequenceText, slotColumns, toProduct, toSlot } from '../slots/slot.ts';
import { maxProductIds, smallProductIds } from '../slots/slot-list.ts';
import { type SnippetRow, toSnippet } from '../slots/snippets.ts';

/** A slot also counts as too large if its own fields have more than this many bytes per permitted product id. */
const bytesPerId = 160;
/** The same of the JSON of its products. */
const jsonBytesPerId = 1_000;
/** A slot with a product that takes more on disk is read alone, too. */
const smallProductBytes = 2_000;

/**
 * Spec 4.1, getSlotById: returns a slot in either state, with its products and snippets. Throws NOT_FOUND, and
 * RESOURCE_EXHAUSTED for more than a million product ids, or too many bytes of products.
 */
export function getSlotById({ database, appUrl }: SlotParts): Handler<typeof SlotService.method.getSlotById> {
  const readSlot = readBySize<number, SlotKey, SlotDetailRow, AnswerResponse<typeof GetSlotByIdResponseSchema>>(
    database,
    {
      select: selectSlot,
      keyOf: ({ slotId }) => slotId,
      toValue: (row) => new AnswerResponse(GetSlotByIdResponseSchema, { slot: toSlotDetail(row, appUrl) }),
      maxSizes: { shared: smallProductIds, alone: maxProductIds },
    },
  );
  return async ({ id }, call) => {
    const slot = await readSlot(id, call);
    if (slot === undefined) throw fail(slotErrors.slotNotFound);
    return slot;
  };
}

interface SlotKey {
  slotId: number;
}

interface SlotDetailRow extends SlotRow {
  /** In the order of product ids. A missing product has nulls. */
  productSlots: [productId: number, ...product: [name: string, images: string[]] | [null, null]][];
  /** `validTill` is in epoch milliseconds. */
  vendorSnippets: SnippetRow[];
}

function toSlotDetail({ vendorSnippets, ...row }: SlotDetailRow, appUrl: string) {
  const known = row.productSlots.flatMap(([id, name, images]) => (name === null ? [] : { id, name, images }));
  const products = new Map(known.map((product) => [product.id, toProduct(product)]));
  return {
    ...toSlot(row),
    deliverySequence: flattenSequence(JSON.parse(sequenceText(row))),
    products: [...products.values()],
    productSlots: mapped(row.productSlots, ([productId]) => {
      return { slotId: row.id, productId, product: products.get(productId) };
    }),
    vendorSnippets: mapped(vendorSnippets, (snippet) => {
      const accessUrl = `${appUrl}/vendor-order-list?id=${encodeURIComponent(snippet.snippetCode)}`;
      return { ...toSnippet(snippet), accessUrl };
    }),
  };
}

const selectSlot = keyedStatement<number, Sized<SlotKey, SlotDetailRow>, { maxSize: number }>(
  'getSlotById',
  'integer',
  // The size is the number of products, snippets and the snippets' product ids. A slot has at most 100,000
  // products, but any number of snippets. Their ids are counted by the size of the array, 21 to 24 bytes plus 4 per
  // id, which does not read it.
  `select slots.id as "slotId", detail.*,
     coalesce("snippetsSize" + json_array_length("productSlots") > $maxSize::integer, true) as "isTooLarge"
   from slots left join lateral (
     select ${slotColumns}, "snippetsSize",
       (
         select listed from (
           select coalesce(
             json_agg(json_build_array(product_id, name, images) order by product_id) filter (where not is_large), '[]'
           ) as listed
           from (
             select product_id, products.name, products.images, ($maxSize::bigint <= ${smallProductIds}
               and pg_column_size(products.name) + pg_column_size(products.images) > ${smallProductBytes}) is true as is_large
             from (
               select product_id from product_slots where slot_id = slots.id limit $maxSize::bigint + 1
             ) as associations left join products on products.id = product_id
           ) as products
           having not coalesce(bool_or(is_large), false)
         ) as products
         where octet_length(listed::text) <= $maxSize::bigint * ${jsonBytesPerId}
       ) as "productSlots",
       coalesce((
         select jsonb_agg(jsonb_build_object(
           'snippetCode', snippet_code, 'slotId', slot_id, 'productIds', product_ids,
           'validTill', floor(extract(epoch from valid_till) * 1000)
         ) order by id)
         from vendor_snippets where slot_id = slots.id
       ), '[]') as "vendorSnippets"
     from (
       select coalesce(sum(1 + greatest(pg_column_size(product_ids) - 21, 0) / 4), 0) as "snippetsSize" from (
         select product_ids from vendor_snippets where slot_id = slots.id limit $maxSize::bigint + 1
       ) as snippets
     ) as measured
     where "snippetsSize" <= $maxSize and slots.shown_bytes / ${bytesPerId} <= $maxSize
       and ($maxSize <= ${smallProductIds} or (
         select coalesce(sum(${productBytes}), 0)
         from product_slots join products on products.id = product_id where slot_id = slots.id
       ) <= ${maxProductBytes})
     offset 0
   ) as detail on true
   where slots.id = $key`,
);
