import type { JsonValue } from '@bufbuild/protobuf';
import { type Queryable, statement } from '../../shared/db/database.ts';
import { requiredDate } from '../../shared/rpc/dates.ts';
import { fail } from '../../shared/rpc/errors.ts';
import { slotErrors } from './errors.ts';
import { replaceSlotProducts } from './products.ts';
import { createSnippets, type SnippetInput, type SnippetRow } from './snippets.ts';
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

/** What createSlot and updateSlot are given (spec 4.1). */
export interface SlotInput {
  readonly deliveryTime: string;
  readonly freezeTime: string;
  readonly isActive: boolean | undefined;
  readonly productIds: readonly number[] | undefined;
  readonly vendorSnippets: readonly SnippetInput[];
  readonly groupIds: readonly number[];
}

export interface WrittenSlot {
  readonly slot: SlotRow;
  readonly createdSnippets: SnippetRow[];
  readonly storeRequestId: string;
}

/** Throws INVALID_ARGUMENT when a time is empty or no date (spec 7). */
function readTimes(input: SlotInput): { deliveryTime: Date; freezeTime: Date } {
  const { deliveryTime, freezeTime } = input;
  if (deliveryTime === '' || freezeTime === '') {
    const missing = deliveryTime === '' ? 'delivery_time' : 'freeze_time';
    throw fail(slotErrors.timesRequired, { violations: [{ field: missing, description: 'is required' }] });
  }
  return {
    deliveryTime: requiredDate('delivery_time', deliveryTime),
    freezeTime: requiredDate('freeze_time', freezeTime),
  };
}

type StoredSlot = SlotRow & { storeRequestId: string };

const insertSlot = statement<StoredSlot>(
  'insertSlot',
  `with slots as (
     insert into slots (delivery_time, freeze_time, is_active, group_ids) values ($1, $2, $3, $4) returning *
   ),
   associations as (
     insert into product_slots (slot_id, product_id)
     select slots.id, product_id from slots, unnest($5::integer[]) as product_id
     -- Repeats, and an association made before there was the slot.
     on conflict do nothing
   ),
   strays as (delete from product_slots using slots where slot_id = slots.id and product_id <> all($5)),
   ${requestForEach('slots')}
   select ${slotColumns}, ${storeRequestId} from slots`,
);

/**
 * Spec 4.1, createSlot. Group ids and product ids of the slot are not checked.
 *
 * @throws INVALID_ARGUMENT for times that are empty or no dates, and what `createSnippets` throws.
 */
export async function createSlot(tx: Queryable, input: SlotInput): Promise<WrittenSlot> {
  const { deliveryTime, freezeTime } = readTimes(input);
  const groupIds = [...new Set(input.groupIds)];
  const values = [deliveryTime, freezeTime, input.isActive ?? true, groupIds, input.productIds ?? []];
  const [slot] = await tx.query(insertSlot, values);
  if (slot === undefined) throw new Error('the slot was not stored');
  const createdSnippets = await createSnippets(tx, slot.id, input.vendorSnippets);
  return { slot, createdSnippets, storeRequestId: slot.storeRequestId };
}

const updateSlotRow = statement<StoredSlot>(
  'updateSlot',
  `with slots as (
     update slots
     set delivery_time = $2, freeze_time = $3, is_active = $4,
         group_ids = array(
           select given.id
           from unnest($5::integer[]) with ordinality as given (id, position)
           join product_groups using (id)
           order by position
         )
     where id = $1
     returning *
   ),
   ${requestForEach('slots')}
   select ${slotColumns}, ${storeRequestId} from slots`,
);

/**
 * Spec 4.1, updateSlot, rules 1 to 5. What it throws is for the handler to wrap.
 *
 * @throws NOT_FOUND, and what `createSlot` throws.
 */
export async function updateSlot(tx: Queryable, id: number, input: SlotInput): Promise<WrittenSlot> {
  const { deliveryTime, freezeTime } = readTimes(input);
  // 1, 2: times and active flag; ids of no product group are dropped.
  const groupIds = [...new Set(input.groupIds)];
  const [slot] = await tx.query(updateSlotRow, [id, deliveryTime, freezeTime, input.isActive ?? true, groupIds]);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  // 3: given products replace the associations.
  if (input.productIds !== undefined) await replaceSlotProducts(tx, id, input.productIds);
  // 4: given snippets are added.
  const createdSnippets = await createSnippets(tx, id, input.vendorSnippets);
  // 5: all of it in the transaction of the caller.
  return { slot, createdSnippets, storeRequestId: slot.storeRequestId };
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
