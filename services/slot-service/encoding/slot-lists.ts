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

  toBinary(): Promise<Buffer> {
    return listToBinary(GetSlotsResponseSchema.field, this.#rows, writeSlot);
  }

  toJson(): Promise<string> {
    return listToJson(this.#rows, (row) => JSON.stringify(slotToJson(row)));
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

  toBinary(): Promise<Buffer> {
    const encoded = new Map<number, EncodedProduct>();
    const encodedOf = (id: number) => {
      let product = encoded.get(id);
      if (product === undefined) {
        product = encodeProduct(id, this.#products.get(id));
        encoded.set(id, product);
      }
      return product;
    };
    return listToBinary(GetAllResponseSchema.field, this.#rows, (writer, row) => {
      const products = row.productIds.map(encodedOf);
      writeSlot(writer, row);
      for (const { product } of products) {
        if (product !== undefined) writer.bytes(listed.products.number, product);
      }
      for (const { association } of products) {
        writer.message(listed.productSlots.number, () => {
          writeSlotIdOf(writer, row);
          writer.raw(association);
        });
      }
    });
  }

  toJson(): Promise<string> {
    const products = new Map([...this.#products].map(([id, product]) => [id, JSON.stringify(product)]));
    return listToJson(this.#rows, (row) => {
      const own = JSON.stringify(slotToJson(row));
      const shown = row.productIds.flatMap((id) => products.get(id) ?? []);
      const associations = row.productIds.map((productId) => {
        const product = products.get(productId);
        const end = product === undefined ? '}' : `,"product":${product}}`;
        return `{"slotId":${row.id},"productId":${productId}${end}`;
      });
      return `${own.slice(0, -1)},"products":[${shown.join()}],"productSlots":[${associations.join()}]}`;
    });
  }
}

/** A product as each slot shows it, encoded. */
interface EncodedProduct {
  /** Undefined: there is no such product. */
  readonly product: Buffer | undefined;
  /** The fields of the `ProductSlot`, without its slot's id. */
  readonly association: Buffer;
}

function encodeProduct(id: number, row: ProductRow | undefined): EncodedProduct {
  const writer = new FieldWriter();
  if (row !== undefined) writeProduct(writer, row);
  const product = row && writer.finish();
  writeAssociation(writer, id, row);
  return { product, association: writer.finish() };
}

/** The fields of a response that lists slots. */
interface ListFields {
  readonly slots: { readonly number: number };
  readonly count: { readonly number: number };
}

/** Encodes a list, whose slots `write` writes. */
async function listToBinary<Row>(
  { slots, count }: ListFields,
  rows: readonly Row[],
  write: (writer: FieldWriter, row: Row) => void,
): Promise<Buffer> {
  const writer = new FieldWriter();
  const chunks = await inTurns(rows, (batch) => {
    for (const row of batch) writer.message(slots.number, () => write(writer, row));
    return writer.finish();
  });
  return Buffer.concat([...chunks, writer.int32(count.number, rows.length).finish()]);
}

/** Encodes a list, whose slots have the texts of `toText`. */
async function listToJson<Row>(rows: readonly Row[], toText: (row: Row) => string): Promise<string> {
  const chunks = await inTurns(rows, (batch) => batch.map(toText).join());
  return `{"slots":[${chunks.join()}],"count":${rows.length}}`;
}

// About a millisecond of work.
const rowsPerTurn = 50;

/** Encodes rows in batches, between which other calls run: a long list must not block the event loop. */
async function inTurns<Row, Chunk>(rows: readonly Row[], encode: (batch: readonly Row[]) => Chunk): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for (let start = 0; start < rows.length; start += rowsPerTurn) {
    if (start > 0) await nextTurn();
    chunks.push(encode(rows.slice(start, start + rowsPerTurn)));
  }
  return chunks;
}
