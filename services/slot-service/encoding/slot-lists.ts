import {
  GetAllResponseSchema,
  GetSlotsResponseSchema,
  ListedSlotSchema,
  SlotSchema,
} from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  type Encoding,
  encodeInBatches,
  sliceUnits,
  TextWriter,
  writeSlices,
  writeTexts,
} from '../../../shared/rpc/protobuf/batches.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { Batch, TurnTaker } from '../../../shared/rpc/protobuf/turns.ts';
import type { ProductRow } from '../slots/slot.ts';
import type { ListedSlotRow, ListRow } from '../slots/slot-list.ts';
import { slotToJson, writeAssociation, writeProduct, writeSlot, writeSlotIdOf } from './slot-fields.ts';

// Lists of slots, encoded straight from their rows: as messages, a list of 1,000 slots with 40 products
// each would be 200,000 objects. A product is encoded once, however many slots have it.

const listed = ListedSlotSchema.field;

/** The response of getSlots. */
export class SlotsResponse extends EncodedResponse<typeof GetSlotsResponseSchema> {
  readonly #rows: readonly ListRow[];

  constructor(rows: readonly ListRow[]) {
    super(GetSlotsResponseSchema);
    this.#rows = rows;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    const { slots, count } = this.schema.field;
    return encodeInBatches(caller, (batch) =>
      listToBinary(batch, { slots, count }, this.#rows, (writer, row) => {
        writeSlot(writer, row, SlotSchema.field.etag);
        return undefined;
      }),
    );
  }

  toJson(caller: TurnTaker): Promise<string> {
    return encodeInBatches(caller, (batch) =>
      listToJson(batch, this.#rows, (writer, row) => {
        writer.write(`{${slotToJson(row)}}`);
        return undefined;
      }),
    );
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

  toBinary(caller: TurnTaker): Promise<Buffer> {
    const { slots, count } = this.schema.field;
    const encodedOf = onceEach((id) => encodeProduct(id, this.#products.get(id)));
    const writeProducts = (writer: FieldWriter, ids: readonly number[]) => {
      for (const id of ids) {
        const { product } = encodedOf(id);
        if (product !== undefined) writer.bytes(listed.products.number, product);
      }
    };
    const writeAssociations = (writer: FieldWriter, row: ListedSlotRow, ids: readonly number[]) => {
      for (const id of ids) {
        writer.message(listed.productSlots.number, () => {
          writeSlotIdOf(writer, row);
          writer.raw(encodedOf(id).association);
        });
      }
    };
    function* writeLongRow(batch: Batch, writer: FieldWriter, row: ListedSlotRow) {
      yield* writeSlices(batch, writer, row.productIds, (ids) => writeProducts(writer, ids));
      yield* writeSlices(batch, writer, row.productIds, (ids) => writeAssociations(writer, row, ids));
    }
    return encodeInBatches(caller, (batch) =>
      listToBinary(batch, { slots, count }, this.#rows, (writer, row) => {
        const { productIds } = row;
        writeSlot(writer, row, listed.etag);
        if (productIds.length > sliceUnits) {
          return writeLongRow(batch, writer, row);
        }
        writeProducts(writer, productIds);
        writeAssociations(writer, row, productIds);
        return undefined;
      }),
    );
  }

  toJson(caller: TurnTaker): Promise<string> {
    // Empty: there is no such product.
    const textOf = onceEach((id) => {
      const product = this.#products.get(id);
      return product === undefined ? '' : JSON.stringify(product);
    });
    const productsOf = (ids: readonly number[]) => ids.map(textOf).filter(Boolean).join();
    const associationsOf = ({ id }: ListedSlotRow, ids: readonly number[]) => {
      const texts = ids.map((productId) => {
        const product = textOf(productId);
        return `{"slotId":${id},"productId":${productId}${product === '' ? '}' : `,"product":${product}}`}`;
      });
      return texts.join();
    };
    function* writeLongRow(batch: Batch, writer: TextWriter, row: ListedSlotRow) {
      yield* writeTexts(batch, writer, row.productIds, productsOf);
      writer.write('],"productSlots":[');
      yield* writeTexts(batch, writer, row.productIds, (ids) => associationsOf(row, ids));
      writer.write(']}');
    }
    return encodeInBatches(caller, (batch) =>
      listToJson(batch, this.#rows, (writer, row) => {
        const { productIds } = row;
        writer.write(`{${slotToJson(row)},"products":[`);
        if (productIds.length > sliceUnits) {
          return writeLongRow(batch, writer, row);
        }
        writer.write(`${productsOf(productIds)}],"productSlots":[${associationsOf(row, productIds)}]}`);
        return undefined;
      }),
    );
  }
}

/** A function of an id that is computed once for each. */
function onceEach<Result extends object | string>(compute: (id: number) => Result): (id: number) => Result {
  const known = new Map<number, Result>();
  return (id) => {
    let result = known.get(id);
    if (result === undefined) {
      result = compute(id);
      known.set(id, result);
    }
    return result;
  };
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

/** Encodes a list, whose slots `write` writes: at once or, what it returns, in batches. */
function* listToBinary<Row extends ListRow>(
  batch: Batch,
  { slots, count }: ListFields,
  rows: readonly Row[],
  write: (writer: FieldWriter, row: Row) => Iterable<number> | undefined,
): Encoding<Buffer> {
  const writer = new FieldWriter();
  for (const row of rows) {
    writer.open(slots.number);
    const batches = write(writer, row);
    if (batches !== undefined) yield* batches;
    writer.close();
    if (batch.isOverAfter(unitsOf(row))) yield writer.flush();
  }
  return writer.int32(count.number, rows.length).finish();
}

/** Encodes a list, whose slots have the texts that `write` writes: at once or, what it returns, in batches. */
function* listToJson<Row extends ListRow>(
  batch: Batch,
  rows: readonly Row[],
  write: (writer: TextWriter, row: Row) => Iterable<number> | undefined,
): Encoding<string> {
  const writer = new TextWriter().write('{"slots":[');
  let comma = '';
  for (const row of rows) {
    writer.write(comma);
    comma = ',';
    const batches = write(writer, row);
    if (batches !== undefined) yield* batches;
    if (batch.isOverAfter(unitsOf(row))) yield writer.flush();
  }
  return writer.write(`],"count":${rows.length}}`).finish();
}

/** How much work it is to encode a slot (see `Batch`). */
const unitsOf = ({ shownBytes, productIds = [] }: ListRow & { readonly productIds?: readonly number[] }) =>
  shownBytes / 20 + productIds.length;
