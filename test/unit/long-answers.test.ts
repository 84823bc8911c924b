import { fromBinary, toJson } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProductIdsResponse } from '../../services/slot-service/encoding/product-ids.ts';
import { SlotDetailResponse } from '../../services/slot-service/encoding/slot-detail.ts';
import { ListedSlotsResponse, SlotsResponse } from '../../services/slot-service/encoding/slot-lists.ts';
import { GetAllResponseSchema, ListedCouponSchema } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { jsonWriteOptions } from '../../shared/rpc/protobuf/encoding.ts';
import { LongResponse, longList, longMessage } from '../../shared/rpc/protobuf/long-message.ts';
import { Batch } from '../../shared/rpc/protobuf/turns.ts';
import { asText } from '../support/slot-text.ts';

const count = 2_000;
const ids = Array.from({ length: count }, (_, index) => index + 1);
const date = new Date(0);
const slot = asText({
  id: 1,
  ...{ deliveryTime: date, freezeTime: date, isActive: true, isCapacityFull: false, groupIds: [1] },
  ...{ deliverySequence: { 1: [2] }, etag: '7', shownBytes: 200 },
});
const product = { id: 1, name: 'a product', images: [] };

const longAnswers = {
  'slots of GetSlots': new SlotsResponse(ids.map((id) => ({ ...slot, id }))),
  'slots of GetAll': new ListedSlotsResponse(
    ids.map((id) => ({ ...slot, id, productIds: [1] })),
    new Map([[1, product]]),
  ),
  'products of a slot of GetAll': new ListedSlotsResponse([{ ...slot, productIds: ids }], new Map([[1, product]])),
  'products of GetSlotById': new SlotDetailResponse({
    slot: { ...slot, productSlots: ids.map((productId) => ({ slotId: 1, productId, product })) },
    deliverySequence: [],
    vendorSnippets: [],
  }),
  'slots of GetSlotsProductIds': new ProductIdsResponse(new Map(ids.map((id) => [id, ids.slice(0, 3)]))),
  'coupons of a page': new LongResponse(
    longMessage(GetAllResponseSchema, {}, [
      longList(GetAllResponseSchema.field.coupons, ids, (id) =>
        longMessage(ListedCouponSchema, { id, validTill: timestampFromDate(date) }),
      ),
    ]),
  ),
};

/** The clock goes on by a batch whenever somebody looks at it. */
describe('Long answers', () => {
  let nowMs = 0;
  beforeEach(() => {
    vi.spyOn(performance, 'now').mockImplementation(() => ++nowMs);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** How many iterations of the event loop the work lets pass. */
  async function iterationsOf(work: Promise<unknown>): Promise<number> {
    let iterations = 0;
    const pass = () => {
      iterations += 1;
      passing = setImmediate(pass);
    };
    let passing = setImmediate(pass);
    await work;
    clearImmediate(passing);
    return iterations;
  }

  it.each(Object.entries(longAnswers))('%s are encoded in batches, in both forms', async (_name, answer) => {
    const binary = answer.toBinary({});
    expect(await iterationsOf(binary)).toBeGreaterThan(5);
    const json = answer.toJson({});
    expect(await iterationsOf(json)).toBeGreaterThan(5);
    const message = toJson(answer.schema, await answer.toMessage({}), jsonWriteOptions);
    expect(toJson(answer.schema, fromBinary(answer.schema, await binary), jsonWriteOptions)).toEqual(message);
    expect(JSON.parse(await json)).toEqual(message);
  });

  it('A batch looks at the clock once in 200 units of work', () => {
    const batch = new Batch();
    batch.begin();
    expect(Array.from({ length: 400 }, () => batch.isOverAfter(1)).filter(Boolean)).toHaveLength(2);
  });
});
