import { fromJson, type JsonValue } from '@bufbuild/protobuf';
import { timestampFromDate, timestampFromMs, ValueSchema } from '@bufbuild/protobuf/wkt';
import { readOf, writeOf } from './bare-sql.ts';

// The slot procedures of the bare gRPC server: rows to messages, and nothing else.

interface SlotRow {
  readonly id: number;
  readonly deliveryTime: Date;
  readonly freezeTime: Date;
  readonly isActive: boolean;
  readonly isCapacityFull: boolean;
  readonly groupIds: number[];
  readonly deliverySequence: JsonValue;
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

function toFields(row: SlotRow) {
  return {
    id: row.id,
    deliveryTime: timestampFromDate(row.deliveryTime),
    freezeTime: timestampFromDate(row.freezeTime),
    isActive: row.isActive,
    isCapacityFull: row.isCapacityFull,
    groupIds: row.groupIds,
  };
}

function toSlot(row: SlotRow) {
  return { ...toFields(row), deliverySequence: fromJson(ValueSchema, row.deliverySequence) };
}

export function createSlotReads() {
  const slots = readOf<SlotRow>('GetSlots');
  const slotById = readOf<SlotDetailRow>('GetSlotById');
  const productIds = readOf<{ slotId: number; productIds: number[] }>('GetSlotsProductIds');
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

    async getSlotsProductIds({ slotIds }: { slotIds: number[] }) {
      const found: Record<number, { ids: number[] }> = {};
      for (const id of slotIds) found[id] = { ids: [] };
      for (const row of await productIds([slotIds])) found[row.slotId] = { ids: row.productIds };
      return { productIds: found };
    },
  };
}

export function createSlotWrite() {
  const write = writeOf('CreateSlot');
  return {
    async createSlot({ vendorSnippets }: { vendorSnippets: { name: string; productIds: number[] }[] }) {
      const rows = await write(vendorSnippets.map(({ name }) => name));
      const slot = rows.find((row): row is SlotRow => 'deliveryTime' in row);
      if (slot === undefined) throw new Error('the slot was not stored');
      const createdSnippets = vendorSnippets.map(({ name, productIds }) => ({
        snippetCode: name,
        slotId: slot.id,
        productIds,
      }));
      return { slot: toSlot(slot), createdSnippets, message: 'Slot created successfully' };
    },
  };
}
