import type { JsonValue } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { ProductSummarySchema } from '../../shared/gen/common/v1/product_pb.ts';
import {
  GetAllResponseSchema,
  GetSlotsResponseSchema,
  ListedSlotSchema,
  ProductSlotSchema,
  SlotSchema,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedAnswer } from '../../shared/rpc/encoding.ts';
import { writeValue } from '../../shared/rpc/json-value.ts';
import { WireWriter } from '../../shared/rpc/wire.ts';
import type { ListedSlotRow, ProductRow, SlotRow } from './slots.ts';

/**
 * The lists of slots, written straight from their rows: as messages a list of 1,000 slots with 40
 * products each would be 200,000 objects. A product is written once, however many slots have it.
 */

const slot = SlotSchema.field;
const listed = ListedSlotSchema.field;
const productSlot = ProductSlotSchema.field;
const summary = ProductSummarySchema.field;
const timestamp = TimestampSchema.field;

/** The answer of getSlots. */
export class SlotsAnswer extends EncodedAnswer<typeof GetSlotsResponseSchema> {
  readonly #rows: readonly SlotRow[];

  constructor(rows: readonly SlotRow[]) {
    super(GetSlotsResponseSchema);
    this.#rows = rows;
  }

  toBinary(): Buffer {
    const { slots, count } = GetSlotsResponseSchema.field;
    const writer = new WireWriter(64 * 1024);
    for (const row of this.#rows) writer.message(slots.number, () => writeSlot(writer, row));
    return writer.int(count.number, this.#rows.length).finish();
  }

  toJson(): string {
    return JSON.stringify({ slots: this.#rows.map(slotToJson), count: this.#rows.length });
  }
}

/** The answer of getAll. */
export class ListedSlotsAnswer extends EncodedAnswer<typeof GetAllResponseSchema> {
  readonly #rows: readonly ListedSlotRow[];
  readonly #products: ReadonlyMap<number, ProductRow>;

  constructor(rows: readonly ListedSlotRow[], products: ReadonlyMap<number, ProductRow>) {
    super(GetAllResponseSchema);
    this.#rows = rows;
    this.#products = products;
  }

  toBinary(): Buffer {
    const { slots, count } = GetAllResponseSchema.field;
    const products = new Map([...this.#products].map(([id, product]) => [id, writeProduct(product)]));
    const associations = new Map<number, Buffer>();
    const writer = new WireWriter(1024 * 1024);
    for (const row of this.#rows) {
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
          writer.message(listed.productSlots.number, () => writer.int(productSlot.slotId.number, row.id).raw(ofSlot));
        }
      });
    }
    return writer.int(count.number, this.#rows.length).finish();
  }

  toJson(): string {
    const products = new Map([...this.#products].map(([id, product]) => [id, JSON.stringify(product)]));
    const slots = this.#rows.map((row) => {
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

/** The fields of a slot; ListedSlot has them under the same numbers. */
function writeSlot(writer: WireWriter, row: SlotRow): void {
  writer.int(slot.id.number, row.id);
  writeTimestamp(writer, slot.deliveryTime.number, row.deliveryTime);
  writeTimestamp(writer, slot.freezeTime.number, row.freezeTime);
  if (row.isActive) writer.bool(slot.isActive.number, true);
  if (row.isCapacityFull) writer.bool(slot.isCapacityFull.number, true);
  writer.ints(slot.groupIds.number, row.groupIds);
  writer.message(slot.deliverySequence.number, () => writeValue(writer, sequenceOf(row)));
}

function writeTimestamp(writer: WireWriter, field: number, date: Date): void {
  const milliseconds = date.getTime();
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = (milliseconds - seconds * 1000) * 1_000_000;
  writer.message(field, () => {
    writer.int(timestamp.seconds.number, seconds);
    if (nanos > 0) writer.int(timestamp.nanos.number, nanos);
  });
}

function writeProduct({ id, name, images }: ProductRow): Buffer {
  const writer = new WireWriter(256).int(summary.id.number, id).string(summary.name.number, name);
  for (const image of images) writer.string(summary.images.number, image);
  return writer.finish();
}

/** A row of productSlots without its slot's id. */
function writeAssociation(productId: number, product: Buffer | undefined): Buffer {
  const writer = new WireWriter(256).int(productSlot.productId.number, productId);
  return (product === undefined ? writer : writer.bytes(productSlot.product.number, product)).finish();
}

function slotToJson({ deliveryTime, freezeTime, ...row }: SlotRow) {
  return {
    id: row.id,
    deliveryTime: timestampToJson(deliveryTime),
    freezeTime: timestampToJson(freezeTime),
    isActive: row.isActive,
    isCapacityFull: row.isCapacityFull,
    groupIds: row.groupIds,
    deliverySequence: sequenceOf(row),
  };
}

/** Without a fraction when there is none, as protobuf's JSON has it. */
function timestampToJson(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}

const sequenceOf = ({ deliverySequence }: Pick<SlotRow, 'deliverySequence'>): JsonValue => deliverySequence ?? {};
