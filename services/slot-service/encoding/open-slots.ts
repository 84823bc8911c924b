import { create, type MessageShape } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { GetOpenSlotsResponseSchema } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { type Encoding, encodeInBatches, TextWriter } from '../../../shared/rpc/protobuf/batches.ts';
import { EncodedResponse, encodeMessage } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { Batch, TurnTaker } from '../../../shared/rpc/protobuf/turns.ts';
import type { StoredSlot } from '../stores/content.ts';
import { openSlot, timestampText, writeStoredSlots, writeStoredSlotsJson } from './stored-slots.ts';

/** The content of a response of getOpenSlots. */
export interface ShownSlots {
  readonly version: number;
  readonly refreshedAt: Timestamp;
  readonly slots: readonly StoredSlot[];
}

const response = GetOpenSlotsResponseSchema.field;

/** The response of getOpenSlots. Each form is encoded once, for all whom it is sent to. */
export class OpenSlotsResponse extends EncodedResponse<typeof GetOpenSlotsResponseSchema> {
  readonly #shown: ShownSlots;
  #binary: Promise<Buffer> | undefined;
  #json: Promise<string> | undefined;

  constructor(shown: ShownSlots) {
    super(GetOpenSlotsResponseSchema);
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

  override async toMessage(): Promise<MessageShape<typeof GetOpenSlotsResponseSchema>> {
    const { slots, ...version } = this.#shown;
    return create(GetOpenSlotsResponseSchema, { ...version, slots: slots.map(openSlot) });
  }

  *#encodeBinary(batch: Batch): Encoding<Buffer> {
    const { version, refreshedAt, slots } = this.#shown;
    const writer = new FieldWriter();
    yield* writeStoredSlots(batch, writer, response.slots.number, slots);
    if (version !== 0) writer.int32(response.version.number, version);
    return writer.bytes(response.refreshedAt.number, encodeMessage(TimestampSchema, refreshedAt)).finish();
  }

  *#encodeJson(batch: Batch): Encoding<string> {
    const { version, refreshedAt, slots } = this.#shown;
    const writer = new TextWriter().write('{"slots":[');
    yield* writeStoredSlotsJson(batch, writer, slots);
    return writer.write(`],"version":${version},"refreshedAt":${timestampText(refreshedAt)}}`).finish();
  }
}
