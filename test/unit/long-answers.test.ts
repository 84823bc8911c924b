import { create, type DescMessage, fromBinary, fromJson, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SequenceResponse } from '../../services/slot-service/slots/sequence-response.ts';
import { IdListSchema } from '../../shared/gen/common/v1/id_list_pb.ts';
import { ProductSummarySchema } from '../../shared/gen/common/v1/product_pb.ts';
import {
  GetAllResponseSchema,
  GetDeliverySequenceResponseSchema,
  GetSlotByIdResponseSchema,
  GetSlotsProductIdsResponseSchema,
  ListedSlotSchema,
  ProductSlotSchema,
  SlotDetailSchema,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  GetProductSlotsResponseSchema,
  OpenSlotListSchema,
  OpenSlotSchema,
} from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { jsonWriteOptions } from '../../shared/rpc/protobuf/encoding.ts';
import { sharedFields } from '../../shared/rpc/protobuf/fields-encoder.ts';
import { LongResponse, longList, longMap, longMessage } from '../../shared/rpc/protobuf/long-message.ts';
import { Batch } from '../../shared/rpc/protobuf/turns.ts';

const idsUpTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** A long answer, and the fields of the message that it is. */
function answerOf<Schema extends DescMessage>(
  schema: Schema,
  lists: Parameters<typeof longMessage>[2],
  whole: MessageInitShape<Schema>,
  fields = whole,
) {
  return { answer: new LongResponse(longMessage(schema, fields, lists)), message: create(schema, whole) };
}

/** A list in which each item has lists of its own. */
function listOfLists(sizes: readonly number[]) {
  const { products, productSlots } = ListedSlotSchema.field;
  const list = longList(GetAllResponseSchema.field.slots, sizes, (size) =>
    longMessage(ListedSlotSchema, { id: size, etag: '7' }, [
      longList(products, idsUpTo(size), (id) => longMessage(ProductSummarySchema, { id, name: 'a product' })),
      longList(productSlots, idsUpTo(size), (productId) => longMessage(ProductSlotSchema, { slotId: 1, productId })),
    ]),
  );
  const slots = sizes.map((size) => ({
    ...{ id: size, etag: '7' },
    products: idsUpTo(size).map((id) => ({ id, name: 'a product' })),
    productSlots: idsUpTo(size).map((productId) => ({ slotId: 1, productId })),
  }));
  const count = sizes.length;
  return answerOf(GetAllResponseSchema, [list], { slots, count }, { count });
}

/** A single message with a list. */
function single(size: number) {
  const list = longList(SlotDetailSchema.field.products, idsUpTo(size), (id) =>
    longMessage(ProductSummarySchema, { id }),
  );
  const own = { id: 1, deliverySequence: [1, 2] };
  const slot = longList(GetSlotByIdResponseSchema.field.slot, [list], (products) =>
    longMessage(SlotDetailSchema, own, [products]),
  );
  const products = idsUpTo(size).map((id) => ({ id }));
  return answerOf(GetSlotByIdResponseSchema, [slot], { slot: { ...own, products } }, {});
}

/** A map of messages. */
function map(sizes: readonly number[]) {
  const entries = sizes.map((size, index) => [index - 1, idsUpTo(size)] as const);
  const { productIds } = GetSlotsProductIdsResponseSchema.field;
  const list = longMap(productIds, entries, (ids) => longMessage(IdListSchema, { ids }));
  const whole = Object.fromEntries(entries.map(([key, ids]) => [key, { ids }]));
  return answerOf(GetSlotsProductIdsResponseSchema, [list], { productIds: whole }, {});
}

/** A map of messages with lists. */
function mapOfLists(sizes: readonly number[]) {
  const entries = sizes.map((size, index) => [index - 1, idsUpTo(size)] as const);
  const list = longMap(GetProductSlotsResponseSchema.field.slots, entries, (ids) =>
    longMessage(OpenSlotListSchema, {}, [
      longList(OpenSlotListSchema.field.slots, ids, (id) => longMessage(OpenSlotSchema, { id, productIds: [id] })),
    ]),
  );
  const whole = entries.map(([key, ids]) => [key, { slots: ids.map((id) => ({ id, productIds: [id] })) }]);
  const slots = Object.fromEntries(whole);
  return answerOf(GetProductSlotsResponseSchema, [list], { slots, version: 3 }, { version: 3 });
}

const sizes = fc.array(fc.oneof(fc.nat({ max: 5 }), fc.nat({ max: 400 })), { maxLength: 12 });

describe('A long answer is encoded like its message, in both forms', () => {
  it.each([
    ['a list of messages with lists', listOfLists],
    ['a single message', ([size = 0]: readonly number[]) => single(size)],
    ['a map', map],
    ['a map of messages with lists', mapOfLists],
  ])('%s', async (_name, build: (sizes: readonly number[]) => ReturnType<typeof answerOf>) => {
    await fc.assert(
      fc.asyncProperty(sizes, async (given) => {
        const { answer, message } = build(given);
        const { schema } = answer;
        expect(fromBinary(schema, await answer.toBinary({}))).toEqual(message);
        expect(JSON.parse(await answer.toJson({}))).toEqual(toJson(schema, message, jsonWriteOptions));
        expect(await answer.toMessage({})).toEqual(message);
      }),
      { numRuns: 50 },
    );
  });

  it('a delivery sequence, whichever form was asked for before', async () => {
    const sequence = fc.oneof(
      fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value))),
      fc.dictionary(fc.nat().map(String), fc.array(fc.integer({ max: 2 ** 31 }), { maxLength: 20 })),
      fc.constant(null),
    );
    await fc.assert(
      fc.asyncProperty(sequence, async (deliverySequence) => {
        const answer = new SequenceResponse(1, { deliverySequence, etag: '7' }, () => undefined);
        const message = create(GetDeliverySequenceResponseSchema, {
          deliverySequence: fromJson(ValueSchema, deliverySequence),
          etag: '7',
        });
        const json = toJson(GetDeliverySequenceResponseSchema, message, jsonWriteOptions);
        expect(JSON.parse(await answer.toJson())).toEqual(json);
        expect(await answer.toMessage({})).toEqual(message);
        expect(JSON.parse(await answer.toJson())).toEqual(json);
      }),
    );
  });
});

it('Fields that can not be encoded leave nothing behind in those that are encoded next', () => {
  expect(() => sharedFields(ProductSummarySchema, { name: 'a', id: 1.5 }).bytes).toThrow('int32');
  const { bytes } = sharedFields(ProductSummarySchema, { id: 1 });
  expect(fromBinary(ProductSummarySchema, bytes)).toEqual(create(ProductSummarySchema, { id: 1 }));
});

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

  it.each([
    ['A list of many', listOfLists(Array<number>(2_000).fill(1))],
    ['A long list in an item', listOfLists([2_000])],
    ['A long list of a single message', single(2_000)],
    ['A map of many', map(Array<number>(2_000).fill(3))],
    ['A long list in a map', mapOfLists([2_000])],
  ])('%s is encoded in batches, in both forms', async (_name, { answer }) => {
    expect(await iterationsOf(answer.toBinary({}))).toBeGreaterThan(5);
    expect(await iterationsOf(answer.toJson({}))).toBeGreaterThan(5);
  });

  it('A batch looks at the clock once in 200 units of work', () => {
    const batch = new Batch();
    batch.begin();
    expect(Array.from({ length: 400 }, () => batch.isOverAfter(1)).filter(Boolean)).toHaveLength(2);
  });
});
