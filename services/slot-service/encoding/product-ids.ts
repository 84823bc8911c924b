import { IdListSchema } from '../../../shared/gen/common/v1/id_list_pb.ts';
import { GetSlotsProductIdsResponseSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  type Encoding,
  encodeInBatches,
  TextWriter,
  writeSlices,
  writeTexts,
} from '../../../shared/rpc/protobuf/batches.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter, mapKey, mapValue } from '../../../shared/rpc/protobuf/field-writer.ts';
import type { Batch, TurnTaker } from '../../../shared/rpc/protobuf/turns.ts';

const response = GetSlotsProductIdsResponseSchema.field;
const list = IdListSchema.field;

/** The response of getSlotsProductIds: the product ids of each slot, by its id. */
export class ProductIdsResponse extends EncodedResponse<typeof GetSlotsProductIdsResponseSchema> {
  readonly #productIds: ReadonlyMap<number, readonly number[]>;

  constructor(productIds: ReadonlyMap<number, readonly number[]>) {
    super(GetSlotsProductIdsResponseSchema);
    this.#productIds = productIds;
  }

  toBinary(caller: TurnTaker): Promise<Buffer> {
    return encodeInBatches(caller, (batch) => this.#encodeBinary(batch));
  }

  toJson(caller: TurnTaker): Promise<string> {
    return encodeInBatches(caller, (batch) => this.#encodeJson(batch));
  }

  *#encodeBinary(batch: Batch): Encoding<Buffer> {
    const writer = new FieldWriter();
    const write = (entries: readonly Entry[]) => {
      for (const [slotId, ids] of entries) {
        writer.message(response.productIds.number, () => {
          writer.int32(mapKey, slotId).message(mapValue, () => writer.int32s(list.ids.number, ids));
        });
      }
    };
    yield* writeSlices(batch, writer, [...this.#productIds], write, unitsOf);
    return writer.finish();
  }

  *#encodeJson(batch: Batch): Encoding<string> {
    const writer = new TextWriter().write('{"productIds":{');
    const textOf = ([slotId, ids]: Entry) => `"${slotId}":{"ids":${JSON.stringify(ids)}}`;
    const entries = [...this.#productIds];
    yield* writeTexts(batch, writer, entries, (slice) => slice.map(textOf).join(), unitsOf);
    return writer.write('}}').finish();
  }
}

type Entry = readonly [slotId: number, productIds: readonly number[]];

const unitsOf = ([, ids]: Entry) => 1 + ids.length / 10;
