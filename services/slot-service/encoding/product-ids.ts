import { IdListSchema } from '../../../shared/gen/common/v1/id_list_pb.ts';
import { GetSlotsProductIdsResponseSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { EncodedResponse } from '../../../shared/rpc/protobuf/encoding.ts';
import { FieldWriter, mapKey, mapValue } from '../../../shared/rpc/protobuf/field-writer.ts';

const response = GetSlotsProductIdsResponseSchema.field;
const list = IdListSchema.field;

/** The response of getSlotsProductIds: the product ids of each slot, by its id. */
export class ProductIdsResponse extends EncodedResponse<typeof GetSlotsProductIdsResponseSchema> {
  readonly #productIds: ReadonlyMap<number, readonly number[]>;

  constructor(productIds: ReadonlyMap<number, readonly number[]>) {
    super(GetSlotsProductIdsResponseSchema);
    this.#productIds = productIds;
  }

  async toBinary(): Promise<Buffer> {
    const writer = new FieldWriter();
    for (const [slotId, ids] of this.#productIds) {
      writer.message(response.productIds.number, () => {
        writer.int32(mapKey, slotId).message(mapValue, () => writer.int32s(list.ids.number, ids));
      });
    }
    return writer.finish();
  }

  async toJson(): Promise<string> {
    const entries = [...this.#productIds].map(([slotId, ids]) => [slotId, { ids }]);
    return JSON.stringify({ productIds: Object.fromEntries(entries) });
  }
}
