import { create, type MessageShape } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import {
  GetProductSlotsResponseSchema,
  OpenSlotListSchema,
} from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { type Encoding, encodeInBatches, TextWriter } from '../../../shared/rpc/protobuf/batches.ts';
import { EncodedResponse, encodeMessage } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter, mapKey, mapValue } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { Batch, TurnTaker } from '../../../shared/rpc/protobuf/turns.ts';
import type { StoredSlot } from '../stores/content.ts';
import { openSlot, timestampText, writeStoredSlots, writeStoredSlotsJson } from './stored-slots.ts';

/** The content of a response of getProductSlots: each product with its open slots. */
export interface ShownProducts {
  readonly version: number;
  readonly refreshedAt: Timestamp;
  readonly slots: readonly (readonly [productId: number, open: readonly StoredSlot[]])[];
}

const response = GetProductSlotsResponseSchema.field;
const list = OpenSlotListSchema.field;

/** The response of getProductSlots. Each form is encoded once, for all whom it is sent to. */
export class ProductSlotsResponse extends EncodedResponse<typeof GetProductSlotsResponseSchema> {
  readonly #shown: ShownProducts;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<string> | undefined;

  constructor(shown: ShownProducts) {
    super(GetProductSlotsResponseSchema);
    this.#shown = shown;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    this.#binary ??= encodeInBatches(caller, (batch) => this.#encodeBinary(batch));
    return this.#binary;
  }

  toJson(caller: TurnTaker): Promise<string> {
    this.#json ??= encodeInBatches(caller, (batch) => this.#encodeJson(batch));
    return this.#json;
  }

  override async toMessage(): Promise<MessageShape<typeof GetProductSlotsResponseSchema>> {
    const { version, refreshedAt, slots } = this.#shown;
    const lists = slots.map(([id, open]) => [id, { slots: open.map(openSlot) }]);
    return create(GetProductSlotsResponseSchema, { slots: Object.fromEntries(lists), version, refreshedAt });
  }

  *#encodeBinary(batch: Batch): Encoding<Buffer> {
    const { version, refreshedAt, slots } = this.#shown;
    const writer = new FieldWriter();
    for (const [productId, open] of slots) {
      writer.open(response.slots.number).int32(mapKey, productId).open(mapValue);
      yield* writeStoredSlots(batch, writer, list.slots.number, open);
      writer.close().close();
      if (batch.isOverAfter(1 + open.length)) yield writer.flush();
    }
    if (version !== 0) writer.int32(response.version.number, version);
    return writer.bytes(response.refreshedAt.number, encodeMessage(TimestampSchema, refreshedAt)).finish();
  }

  *#encodeJson(batch: Batch): Encoding<string> {
    const { version, refreshedAt, slots } = this.#shown;
    const writer = new TextWriter().write('{"slots":{');
    let comma = '';
    for (const [productId, open] of slots) {
      writer.write(`${comma}"${productId}":{"slots":[`);
      comma = ',';
      yield* writeStoredSlotsJson(batch, writer, open);
      writer.write(']}');
      if (batch.isOverAfter(1 + open.length)) yield writer.flush();
    }
    return writer.write(`},"version":${version},"refreshedAt":${timestampText(refreshedAt)}}`).finish();
  }
}
