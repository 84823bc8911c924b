import type { JsonValue } from '@bufbuild/protobuf';
import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail } from '../../shared/errors/errors.ts';
import { slotErrors } from './errors.ts';
import type { SnippetRow } from './snippets.ts';
import { requestForEach, storeRequestId } from './stores/requests.ts';

/** The slot record (spec 2.1). */
export interface SlotRow {
  id: number;
  deliveryTime: Date;
  freezeTime: Date;
  isActive: boolean;
  isCapacityFull: boolean;
  groupIds: number[];
  deliverySequence: JsonValue;
}

/** An association, with the product when it exists (spec 2.2). */
export interface ProductSlotRow {
  slotId: number;
  productId: number;
  product: ProductRow | null;
}

export interface SlotWithProducts extends SlotRow {
  productSlots: ProductSlotRow[];
}

export const slotColumns = `
  slots.id, slots.delivery_time as "deliveryTime", slots.freeze_time as "freezeTime",
  slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
  slots.group_ids as "groupIds", slots.delivery_sequence as "deliverySequence"`;

// One row of JSON a slot: its associations in the order of their product ids.
const productSlotsOfSlot = `
  coalesce((
    select jsonb_agg(jsonb_build_object(
      'slotId', slot_id, 'productId', product_id,
      'product', case when products.id is not null
        then jsonb_build_object('id', products.id, 'name', products.name, 'images', products.images) end
    ) order by product_id)
    from product_slots left join products on products.id = product_id
    where slot_id = slots.id
  ), '[]') as "productSlots"`;

export interface ProductRow {
  id: number;
  name: string;
  images: string[];
}

/** A slot with the ids of its associations, in their order. */
export interface ListedSlotRow extends SlotRow {
  productIds: number[];
}

export interface ListedSlots {
  readonly slots: readonly ListedSlotRow[];
  /** Those of the associated products that exist. */
  readonly products: ReadonlyMap<number, ProductRow>;
}

// The products come once, with the first row, and not again for each slot that has them.
const getAllRows = statement<ListedSlotRow & { products: ProductRow[] | null }>(
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

/** Spec 4.1, getAll: the active slots with their products, latest delivery first. */
export async function getAll(db: Queryable): Promise<ListedSlots> {
  const slots = await db.query(getAllRows);
  return { slots, products: new Map(slots[0]?.products?.map((product) => [product.id, product])) };
}

const getSlotsRows = statement<SlotRow>('getSlots', `select ${slotColumns} from slots where is_active`);

/** Spec 4.1, getSlots: the active slots, unordered, without products. */
export function getSlots(db: Queryable): Promise<SlotRow[]> {
  return db.query(getSlotsRows);
}

/** A snippet as JSON has it, so that one statement brings all of a slot. */
interface SnippetJson extends Omit<SnippetRow, 'validTill'> {
  /** Epoch milliseconds. */
  validTill: number | null;
}

const getSlotByIdRows = statement<SlotWithProducts & { vendorSnippets: SnippetJson[] }>(
  'getSlotById',
  `select ${slotColumns}, ${productSlotsOfSlot},
     coalesce((
       select jsonb_agg(jsonb_build_object(
         'snippetCode', snippet_code, 'slotId', slot_id, 'productIds', product_ids,
         'validTill', extract(epoch from valid_till) * 1000
       ) order by id)
       from vendor_snippets where slot_id = slots.id
     ), '[]') as "vendorSnippets"
   from slots where id = $1`,
);

/** Spec 4.1, getSlotById: a slot in either state. Throws NOT_FOUND. */
export async function getSlotById(
  db: Queryable,
  id: number,
): Promise<SlotWithProducts & { vendorSnippets: SnippetRow[] }> {
  const [slot] = await db.query(getSlotByIdRows, [id]);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  const vendorSnippets = slot.vendorSnippets.map((snippet) => ({
    ...snippet,
    validTill: snippet.validTill === null ? null : new Date(snippet.validTill),
  }));
  return { ...slot, vendorSnippets };
}

const deleteSlotRow = statement<{ storeRequestId: string }>(
  'deleteSlot',
  `with slots as (update slots set is_active = false where id = $1 returning id),
   ${requestForEach('slots')}
   select ${storeRequestId} from slots`,
);

/** Spec 4.1, deleteSlot: the record is kept. Throws NOT_FOUND. */
export async function deleteSlot(db: Queryable, id: number): Promise<{ storeRequestId: string }> {
  const [slot] = await db.query(deleteSlotRow, [id]);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  return { storeRequestId: slot.storeRequestId };
}
