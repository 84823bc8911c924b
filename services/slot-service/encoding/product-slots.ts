import { setImmediate as nextTurn } from 'node:timers/promises';
import { create, type MessageShape, toJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import {
  GetProductSlotsResponseSchema,
  OpenSlotListSchema,
  OpenSlotSchema,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { EncodedResponse, encodeMessage, jsonWriteOptions } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter, mapKey, mapValue } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { StoredSlot } from '../stores/content.ts';

/** The content of a response of getProductSlots: each product with its open slots. */
export interface ShownProducts {
  readonly version: number;
  readonly refreshedAt: Timestamp;
  readonly slots: readonly (readonly [productId: number, open: readonly StoredSlot[]])[];
}

const response = GetProductSlotsResponseSchema.field;
const list = OpenSlotListSchema.field;

// About a millisecond of work.
const slotsPerTurn = 2_000;

/**
 * The response of getProductSlots; each form is encoded once. A slot is in the lists of all its
 * products: it is encoded once a version. A long response is put together in batches, between which
 * other calls run.
 */
export class ProductSlotsResponse extends EncodedResponse<typeof GetProductSlotsResponseSchema> {
  readonly #shown: ShownProducts;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<string> | undefined;

  constructor(shown: ShownProducts) {
    super(GetProductSlotsResponseSchema);
    this.#shown = shown;
  }

  toBinary(): Promise<Buffer> {
    this.#binary ??= this.#writeBinary();
    return this.#binary;
  }

  toJson(): Promise<string> {
    this.#json ??= this.#writeJson();
    return this.#json;
  }

  override async toMessage(): Promise<MessageShape<typeof GetProductSlotsResponseSchema>> {
    const { version, refreshedAt, slots } = this.#shown;
    const lists = slots.map(([id, open]) => [id, { slots: open.map(({ message }) => message) }]);
    return create(GetProductSlotsResponseSchema, { slots: Object.fromEntries(lists), version, refreshedAt });
  }

  async #writeBinary(): Promise<Buffer> {
    const writer = new FieldWriter();
    await this.#eachInTurns((productId, open) => {
      writer.message(response.slots.number, () => {
        writer.int32(mapKey, productId).message(mapValue, () => {
          for (const slot of open) writer.bytes(list.slots.number, binaryOf(slot));
        });
      });
    });
    const { version, refreshedAt } = this.#shown;
    if (version !== 0) writer.int32(response.version.number, version);
    return writer.bytes(response.refreshedAt.number, encodeMessage(TimestampSchema, refreshedAt)).finish();
  }

  async #writeJson(): Promise<string> {
    const lists: string[] = [];
    await this.#eachInTurns((productId, open) => {
      lists.push(`"${productId}":{"slots":[${open.map(jsonOf).join()}]}`);
    });
    const { version, refreshedAt } = this.#shown;
    const at = JSON.stringify(toJson(TimestampSchema, refreshedAt));
    return `{"slots":{${lists.join()}},"version":${version},"refreshedAt":${at}}`;
  }

  async #eachInTurns(write: (productId: number, open: readonly StoredSlot[]) => void): Promise<void> {
    let written = 0;
    for (const [productId, open] of this.#shown.slots) {
      write(productId, open);
      written += open.length + 1;
      if (written < slotsPerTurn) continue;
      written = 0;
      await nextTurn();
    }
  }
}

const binaries = new WeakMap<StoredSlot, Buffer>();
const texts = new WeakMap<StoredSlot, string>();

function binaryOf(slot: StoredSlot): Buffer {
  const binary = binaries.get(slot) ?? encodeMessage(OpenSlotSchema, slot.message);
  binaries.set(slot, binary);
  return binary;
}

function jsonOf(slot: StoredSlot): string {
  const text = texts.get(slot) ?? JSON.stringify(toJson(OpenSlotSchema, slot.message, jsonWriteOptions));
  texts.set(slot, text);
  return text;
}
