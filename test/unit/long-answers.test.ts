import { create, type DescMessage, fromBinary, fromJson, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { timestampFromDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProductSummarySchema } from '../../shared/gen/common/v1/product_pb.ts';
import {
  GetAllResponseSchema,
  GetDeliverySequenceResponseSchema,
  GetSlotByIdResponseSchema,
  GetSlotsProductIdsResponseSchema,
  GetSlotsResponseSchema,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { GetProductSlotsResponseSchema } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { type Answer, JsonText, mapped } from '../../shared/rpc/answers/answer.ts';
import { share } from '../../shared/rpc/answers/message-encoder.ts';
import { AnswerResponse, EncodedResponse, jsonWriteOptions } from '../../shared/rpc/answers/response.ts';
import { Slice } from '../../shared/rpc/answers/slices.ts';

const idsUpTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** An answer, and the message that it is. */
function answerOf<Schema extends DescMessage>(
  schema: Schema,
  answer: Answer<Schema>,
  message: MessageInitShape<Schema>,
) {
  return { answer: new AnswerResponse(schema, answer), message: create(schema, message) };
}

const slot = { id: 7, isActive: true, isCapacityFull: false, groupIds: [3, -1], etag: 'seven' };
const time = '2026-02-28T10:00:00.250Z';
const product = { id: 3, name: 'a "product" – with text\n', images: ['a', 'ü'] };

/** A list in which each item has lists of its own. */
function listOfLists(sizes: readonly number[]) {
  const shared = share(ProductSummarySchema, product);
  const slots = mapped(sizes, (size) => ({
    ...{ ...slot, deliveryTime: time, deliverySequence: new JsonText('{"1": [2]}') },
    products: mapped(idsUpTo(size), () => shared),
    productSlots: mapped(idsUpTo(size), (productId) => ({ slotId: 1, productId, product: shared })),
  }));
  const messages = sizes.map((size) => ({
    ...{
      ...slot,
      deliveryTime: timestampFromDate(new Date(time)),
      deliverySequence: fromJson(ValueSchema, { 1: [2] }),
    },
    products: idsUpTo(size).map(() => product),
    productSlots: idsUpTo(size).map((productId) => ({ slotId: 1, productId, product })),
  }));
  const count = sizes.length;
  return answerOf(GetAllResponseSchema, { slots, count }, { slots: messages, count });
}

/** A single message with a list. */
function single(size: number) {
  const products = idsUpTo(size).map((id) => ({ ...product, id }));
  const detail = { ...slot, deliverySequence: [1, 2], productSlots: [], vendorSnippets: [] };
  return answerOf(
    GetSlotByIdResponseSchema,
    { slot: { ...detail, products: mapped(products, (each) => each) } },
    { slot: { ...detail, products } },
  );
}

/** A single message with a list of few messages that have long lists. */
function singleWithSnippets(count: number, size: number) {
  const detail = { ...slot, deliverySequence: [], products: [], productSlots: [] };
  const vendorSnippets = idsUpTo(count).map((id) => ({ snippetCode: `${id}`, slotId: 7, productIds: idsUpTo(size) }));
  return answerOf(
    GetSlotByIdResponseSchema,
    { slot: { ...detail, vendorSnippets: mapped(vendorSnippets, (each) => each) } },
    { slot: { ...detail, vendorSnippets } },
  );
}

/** A text as a sequence. */
const sequenceOf = (mebibytes: number) => new JsonText(`"${'x'.repeat(mebibytes * 1024 * 1024)}"`);

/** A list of slots with large sequences. */
function listedWith(count: number, mebibytes: number) {
  const deliverySequence = sequenceOf(mebibytes);
  const slots = mapped(idsUpTo(count), () => ({ ...slot, deliverySequence }));
  return new AnswerResponse(GetSlotsResponseSchema, { slots, count });
}

/** A slot with a large sequence and with lists. */
function listedWithLists(mebibytes: number) {
  const listed = { ...slot, deliverySequence: sequenceOf(mebibytes), products: [], productSlots: [] };
  return new AnswerResponse(GetAllResponseSchema, { slots: [listed], count: 1 });
}

/** A map of messages. */
function map(sizes: readonly number[]) {
  const entries = sizes.map((size, index) => [index - 1, { ids: idsUpTo(size) }] as const);
  return answerOf(
    GetSlotsProductIdsResponseSchema,
    { productIds: new Map(entries) },
    { productIds: Object.fromEntries(entries) },
  );
}

/** A map of messages with lists. */
function mapOfLists(sizes: readonly number[]) {
  const toSlot = (id: number) => ({ id, productIds: [id], isCapacityFull: false });
  const entries = sizes.map((size, index) => [index - 1, idsUpTo(size)] as const);
  return answerOf(
    GetProductSlotsResponseSchema,
    { slots: new Map(entries.map(([key, ids]) => [key, { slots: mapped(ids, toSlot) }])), version: 3 },
    { slots: Object.fromEntries(entries.map(([key, ids]) => [key, { slots: ids.map(toSlot) }])), version: 3 },
  );
}

it('A delivery sequence is encoded like its message, whichever form was asked for before', async () => {
  const sequence = fc.oneof(
    fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value))),
    fc.dictionary(fc.nat().map(String), fc.array(fc.integer({ max: 2 ** 31 }), { maxLength: 20 })),
    fc.constant(null),
  );
  await fc.assert(
    fc.asyncProperty(sequence, async (deliverySequence) => {
      const stored = Buffer.from(JSON.stringify({ deliverySequence, etag: '7' }));
      const answers = [
        new AnswerResponse(GetDeliverySequenceResponseSchema, { deliverySequence, etag: '7' }),
        EncodedResponse.inBothForms(GetDeliverySequenceResponseSchema, { deliverySequence, etag: '7' }),
        new EncodedResponse(GetDeliverySequenceResponseSchema, 'json', stored),
      ];
      const message = create(GetDeliverySequenceResponseSchema, {
        deliverySequence: fromJson(ValueSchema, deliverySequence),
        etag: '7',
      });
      const json = toJson(GetDeliverySequenceResponseSchema, message, jsonWriteOptions);
      for (const answer of answers) {
        expect(JSON.parse(String(await answer.toJson(undefined)))).toEqual(json);
        expect(await answer.toMessage(undefined)).toEqual(message);
        expect(JSON.parse(String(await answer.toJson(undefined)))).toEqual(json);
      }
    }),
  );
});

/** The clock goes on by a slice whenever somebody looks at it. */
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
    ['Few items with much in each', singleWithSnippets(20, 2_000)],
  ])('%s is encoded in slices, in both forms', async (_name, { answer, message }) => {
    const { schema } = answer;
    expect(await iterationsOf(answer.toBinary(undefined))).toBeGreaterThan(5);
    expect(await iterationsOf(answer.toJson(undefined))).toBeGreaterThan(5);
    expect(fromBinary(schema, await answer.toBinary(undefined))).toEqual(message);
    expect(JSON.parse(String(await answer.toJson(undefined)))).toEqual(toJson(schema, message, jsonWriteOptions));
  });

  it.each([
    ['an item', listedWith(1, 65)],
    ['the items of a list', listedWith(10, 7)],
    ['a field of an item that has lists', listedWithLists(65)],
  ])('An answer of more than 64 MiB in %s is refused', async (_name, answer) => {
    const tooLarge = { code: Code.ResourceExhausted, rawMessage: 'The answer is too large - please ask for less' };
    await expect(answer.toBinary(undefined)).rejects.toMatchObject(tooLarge);
    await expect(answer.toJson(undefined)).rejects.toMatchObject(tooLarge);
    // What was written of it is not in the next answer.
    const next = new AnswerResponse(GetSlotsResponseSchema, { slots: [], count: 3 });
    expect(fromBinary(GetSlotsResponseSchema, await next.toBinary(undefined))).toMatchObject({ slots: [], count: 3 });
    expect(String(await next.toJson(undefined))).toBe('{"slots":[],"count":3}');
  });

  it('A slice looks at the clock once in 200 units of work', () => {
    const slice = new Slice();
    slice.begin();
    expect(Array.from({ length: 400 }, () => slice.isOverAfter(1)).filter(Boolean)).toHaveLength(2);
  });
});
