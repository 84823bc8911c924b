import { fromBinary, fromJsonString, toBinary, toJson } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { ProductSlotsResponse } from '../../services/slot-service/encoding/product-slots.ts';
import type { StoredSlot } from '../../services/slot-service/stores/content.ts';
import { GetProductSlotsResponseSchema } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { jsonWriteOptions } from '../../shared/rpc/protobuf/encoding.ts';

const slot = (id: number, productIds: number[]): StoredSlot => ({
  id,
  deliveryMs: id * 1_001,
  freezeMs: id,
  productIds,
});

describe('The response of GetProductSlots', () => {
  const both = slot(1, [-7, 8]);
  const many = Array.from({ length: 3_000 }, (_, at) => slot(at + 2, [8]));
  const response = new ProductSlotsResponse({
    version: 3,
    refreshedAt: timestampFromMs(1_500),
    slots: [
      [-7, [both]],
      [8, [both, ...many]],
      [2147483647, []],
    ],
  });

  it('The response of GetProductSlots in binary form is equal to that of protobuf-es', async () => {
    const message = await response.toMessage();
    const binary = await response.toBinary({});
    expect(fromBinary(GetProductSlotsResponseSchema, binary)).toEqual(message);
    expect(binary.length).toBe(toBinary(GetProductSlotsResponseSchema, message).length);
  });

  it('The response of GetProductSlots in JSON is equal to that of protobuf-es', async () => {
    const message = await response.toMessage();
    const text = await response.toJson({});
    expect(JSON.parse(text)).toEqual(toJson(GetProductSlotsResponseSchema, message, jsonWriteOptions));
    expect(fromJsonString(GetProductSlotsResponseSchema, text)).toEqual(message);
  });
});
