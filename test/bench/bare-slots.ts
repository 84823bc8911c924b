import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { timestampFromDate, timestampFromMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import type { SlotRow as StoredRow } from '../../services/slot-service/slots/slot.ts';
import { readOf, writeOf } from './bare-sql.ts';

// The slot procedures of the bare servers: plain SQL, and rows to messages.

export interface SlotRow {
  readonly id: number;
  readonly deliveryTime: Date;
  readonly freezeTime: Date;
  readonly isActive: boolean;
  readonly isCapacityFull: boolean;
  readonly groupIds: number[];
  readonly deliverySequence: JsonValue;
  readonly etag: string;
}

export interface Product {
  readonly id: number;
  readonly name: string;
  readonly images: string[];
}

interface ProductSlot {
  readonly slotId: number;
  readonly productId: number;
  readonly product: Product | null;
}

interface SlotDetailRow extends SlotRow {
  readonly deliverySequence: Record<string, number[]>;
  readonly productSlots: ProductSlot[];
  readonly vendorSnippets: { snippetCode: string; slotId: number; productIds: number[]; validTill: number | null }[];
}

export interface ListedSlotRow extends SlotRow {
  readonly productIds: number[];
}

const columns = `
  slots.id, slots.delivery_time as "deliveryTime", slots.freeze_time as "freezeTime", slots.is_active as "isActive",
  slots.is_capacity_full as "isCapacityFull", slots.group_ids as "groupIds",
  slots.delivery_sequence as "deliverySequence", slots.etag`;

export const slotsSql = `select ${columns} from slots where is_active`;

const slotByIdSql = `
  select ${columns},
    (select json_agg(json_build_object('slotId', slot_id, 'productId', product_id, 'product', case
        when products.id is not null
        then json_build_object('id', products.id, 'name', products.name, 'images', products.images)
      end) order by product_id)
     from product_slots left join products on products.id = product_id where slot_id = slots.id) as "productSlots",
    (select json_agg(json_build_object('snippetCode', snippet_code, 'slotId', slot_id, 'productIds', product_ids,
        'validTill', extract(epoch from valid_till) * 1000) order by id)
     from vendor_snippets where slot_id = slots.id) as "vendorSnippets"
  from slots where id = $1`;

/** The slots with the ids of their products, and the products once, with the first slot. */
export const listedSlotsSql = `
  with slots as materialized (
    select *, array(select product_id from product_slots where slot_id = slots.id order by product_id) as associated
    from slots where is_active
  )
  select ${columns}, array_to_json(associated) as "productIds",
    case when row_number() over latest_first = 1 then (
      select json_agg(json_build_object('id', products.id, 'name', products.name, 'images', products.images))
      from products where products.id in (select unnest(associated) from slots)
    ) end as products
  from slots window latest_first as (order by delivery_time desc, id desc)
  order by delivery_time desc, id desc`;

function toFields(row: SlotRow) {
  return {
    id: row.id,
    deliveryTime: timestampFromDate(row.deliveryTime),
    freezeTime: timestampFromDate(row.freezeTime),
    isActive: row.isActive,
    isCapacityFull: row.isCapacityFull,
    groupIds: row.groupIds,
    etag: row.etag,
  };
}

function toSlot(row: SlotRow) {
  return { ...toFields(row), deliverySequence: fromJson(ValueSchema, row.deliverySequence) };
}

export function createSlotReads() {
  const slots = readOf<SlotRow>('getSlots', slotsSql);
  const slotById = readOf<SlotDetailRow>('getSlotById', slotByIdSql);
  return {
    async getSlots() {
      const rows = await slots();
      return { slots: rows.map(toSlot), count: rows.length };
    },

    async getSlotById({ id }: { id?: number | undefined }) {
      const [row] = await slotById([id]);
      if (row === undefined) throw new Error('Slot not found');
      return {
        slot: {
          ...toFields(row),
          // The keys of an object that are numbers come in ascending order.
          deliverySequence: Object.values(row.deliverySequence).flat(),
          products: row.productSlots.flatMap(({ product }) => product ?? []),
          productSlots: row.productSlots.map(({ slotId, productId, product }) => ({
            slotId,
            productId,
            ...(product && { product }),
          })),
          vendorSnippets: row.vendorSnippets.map(({ validTill, ...snippet }) => ({
            ...snippet,
            accessUrl: `http://localhost:3000/vendor-order-list?id=${encodeURIComponent(snippet.snippetCode)}`,
            ...(validTill !== null && { validTill: timestampFromMs(validTill) }),
          })),
        },
      };
    },
  };
}

export function createSlotWrite() {
  const write = writeOf('CreateSlot');
  return {
    async createSlot({ vendorSnippets }: { vendorSnippets: { name: string; productIds: number[] }[] }) {
      const rows = await write(vendorSnippets.map(({ name }) => name));
      // The recorded statement returns the service's row.
      const slot = rows.find((row): row is StoredRow => 'deliveryTime' in row);
      if (slot === undefined) throw new Error('the slot was not stored');
      const toDate = (json: string) => new Date(`${JSON.parse(json)}Z`);
      const createdSnippets = vendorSnippets.map(({ name, productIds }) => ({
        snippetCode: name,
        slotId: slot.id,
        productIds,
      }));
      const times = { deliveryTime: toDate(slot.deliveryTime), freezeTime: toDate(slot.freezeTime) };
      const deliverySequence = JSON.parse(slot.deliverySequence ?? '{}');
      return {
        slot: toSlot({ ...slot, ...times, deliverySequence }),
        createdSnippets,
        message: 'Slot created successfully',
      };
    },
  };
}
