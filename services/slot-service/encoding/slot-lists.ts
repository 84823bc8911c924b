import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  GetAllResponseSchema,
  GetSlotsResponseSchema,
  ListedSlotSchema,
} from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { ListedSlotRow, ProductRow, SlotRow } from '../slots/slot.ts';
import { slotToJson, writeAssociation, writeProduct, writeSlot, writeSlotIdOf } from './slot-fields.ts';

// Lists of slots, encoded straight from their rows: as messages, a list of 1,000 slots with 40 products
// each would be 200,000 objects. A product is encoded once, however many slots have it.

const listed = ListedSlotSchema.field;

/** The response of getSlots. */
export class SlotsResponse extends EncodedResponse<typeof GetSlotsResponseSchema> {
  readonly #rows: readonly SlotRow[];

  constructor(rows: readonly SlotRow[]) {
    super(GetSlotsResponseSchema);
    this.#rows = rows;
  }

  async toBinary(): Promise<Buffer> {
    const { slots, count } = GetSlotsResponseSchema.field;
    const writer = new FieldWriter();
    await inTurns(this.#rows, (row) => writer.message(slots.number, () => writeSlot(writer, row)));
    return writer.int32(count.number, this.#rows.length).finish();
  }

  async toJson(): Promise<string> {
    const slots = await inTurns(this.#rows, (row) => JSON.stringify(slotToJson(row)));
    return `{"slots":[${slots.join()}],"count":${this.#rows.length}}`;
  }
}

/** The response of getAll. */
export class ListedSlotsResponse extends EncodedResponse<typeof GetAllResponseSchema> {
  readonly #rows: readonly ListedSlotRow[];
  readonly #products: ReadonlyMap<number, ProductRow>;

  constructor(rows: readonly ListedSlotRow[], products: ReadonlyMap<number, ProductRow>) {
    super(GetAllResponseSchema);
    this.#rows = rows;
    this.#products = products;
  }

  async toBinary(): Promise<Buffer> {
    const { slots, count } = GetAllResponseSchema.field;
    const products = new Map([...this.#products].map(([id, product]) => [id, writeProduct(product)]));
    const associations = new Map<number, Buffer>();
    const writer = new FieldWriter();
    await inTurns(this.#rows, (row) => {
      writer.message(slots.number, () => {
        writeSlot(writer, row);
        for (const id of row.productIds) {
          const product = products.get(id);
          if (product !== undefined) writer.bytes(listed.products.number, product);
        }
        for (const id of row.productIds) {
          let association = associations.get(id);
          if (association === undefined) {
            association = writeAssociation(id, products.get(id));
            associations.set(id, association);
          }
          const ofSlot = association;
          writer.message(listed.productSlots.number, () => writeSlotIdOf(writer, row).raw(ofSlot));
        }
      });
    });
    return writer.int32(count.number, this.#rows.length).finish();
  }

  async toJson(): Promise<string> {
    const products = new Map([...this.#products].map(([id, product]) => [id, JSON.stringify(product)]));
    const slots = await inTurns(this.#rows, (row) => {
      const own = JSON.stringify(slotToJson(row));
      const shown = row.productIds.flatMap((id) => products.get(id) ?? []);
      const associations = row.productIds.map((productId) => {
        const product = products.get(productId);
        const end = product === undefined ? '}' : `,"product":${product}}`;
        return `{"slotId":${row.id},"productId":${productId}${end}`;
      });
      return `${own.slice(0, -1)},"products":[${shown.join()}],"productSlots":[${associations.join()}]}`;
    });
    return `{"slots":[${slots.join()}],"count":${this.#rows.length}}`;
  }
}

// About a millisecond of work.
const rowsPerTurn = 50;

/** Maps rows in batches, between which other calls run: a long list must not block the event loop. */
async function inTurns<Row, Result>(rows: readonly Row[], map: (row: Row) => Result): Promise<Result[]> {
  const results: Result[] = [];
  for (const row of rows) {
    if (results.length % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
    results.push(map(row));
  }
  return results;
}
