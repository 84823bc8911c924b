import { create, fromJson, toJson } from '@bufbuild/protobuf';
import { timestampFromDate, ValueSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ProductIdsResponse } from '../../services/slot-service/encoding/product-ids.ts';
import { SlotDetailResponse } from '../../services/slot-service/encoding/slot-detail.ts';
import { ListedSlotsResponse, SlotsResponse } from '../../services/slot-service/encoding/slot-lists.ts';
import { UpdatedSequenceResponse } from '../../services/slot-service/encoding/updated-sequence.ts';
import { SequenceResponse } from '../../services/slot-service/slots/sequence-response.ts';
import type { ProductRow } from '../../services/slot-service/slots/slot.ts';
import {
  GetAllResponseSchema,
  GetDeliverySequenceResponseSchema,
  GetSlotByIdResponseSchema,
  GetSlotsProductIdsResponseSchema,
  GetSlotsResponseSchema,
  UpdateDeliverySequenceResponseSchema,
} from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { jsonWriteOptions } from '../../shared/rpc/protobuf/encoding.ts';
import { asText } from '../support/slot-text.ts';

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const sequence = fc.oneof(
  fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value))),
  fc.dictionary(fc.nat().map(String), fc.array(fc.integer({ max: 2 ** 31 }), { maxLength: 20 })),
  fc.constant(null),
);
const row = fc.record({
  id: int32,
  deliveryTime: date,
  freezeTime: date,
  isActive: fc.boolean(),
  isCapacityFull: fc.boolean(),
  groupIds: fc.array(int32, { maxLength: 40 }),
  deliverySequence: sequence,
  etag: fc.nat().map(String),
  shownBytes: fc.nat({ max: 5_000 }),
  productIds: fc.oneof(
    { weight: 9, arbitrary: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }) },
    // More than are written at once, of which the products are known here and there.
    { weight: 1, arbitrary: fc.constant(Array.from({ length: 900 }, (_, index) => index)) },
  ),
});
const product = (id: number): fc.Arbitrary<ProductRow> =>
  fc.record({ id: fc.constant(id), name: text, images: fc.array(text, { maxLength: 3 }) });
const products = fc
  .uniqueArray(fc.integer({ min: 1, max: 30 }))
  .chain((ids) => fc.tuple(...ids.map(product)))
  .map((known) => new Map(known.map((one) => [one.id, one])));

type GivenRow = typeof row extends fc.Arbitrary<infer Row> ? Row : never;

/** The fields of a slot as a message has them. */
const toFields = ({ productIds: _, shownBytes: __, ...slot }: GivenRow) => ({
  ...slot,
  deliveryTime: timestampFromDate(slot.deliveryTime),
  freezeTime: timestampFromDate(slot.freezeTime),
  deliverySequence: fromJson(ValueSchema, slot.deliverySequence ?? {}),
});

it('A list of slots is encoded like its message, in both forms', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 5 }), async (rows) => {
      const answer = new SlotsResponse(rows.map(asText));
      const message = create(GetSlotsResponseSchema, { slots: rows.map(toFields), count: rows.length });
      expect(await answer.toMessage({})).toEqual(message);
      expect(JSON.parse(await answer.toJson({}))).toEqual(toJson(GetSlotsResponseSchema, message, jsonWriteOptions));
    }),
  );
});

it('A list of slots with products is encoded like its message, in both forms', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 5 }), products, async (rows, known) => {
      const answer = new ListedSlotsResponse(rows.map(asText), known);
      const slots = rows.map((slot) => ({
        ...toFields(slot),
        products: slot.productIds.flatMap((id) => known.get(id) ?? []),
        productSlots: slot.productIds.map((productId) => {
          const found = known.get(productId);
          return { slotId: slot.id, productId, ...(found && { product: found }) };
        }),
      }));
      const message = create(GetAllResponseSchema, { slots, count: rows.length });
      expect(await answer.toMessage({})).toEqual(message);
      expect(JSON.parse(await answer.toJson({}))).toEqual(toJson(GetAllResponseSchema, message, jsonWriteOptions));
    }),
  );
});

it('The product ids of slots are encoded like their message, in both forms', async () => {
  const byId = fc.array(fc.tuple(int32, fc.array(int32))).map((entries) => new Map(entries));
  await fc.assert(
    fc.asyncProperty(byId, async (productIds) => {
      const answer = new ProductIdsResponse(productIds);
      const message = create(GetSlotsProductIdsResponseSchema, {
        productIds: Object.fromEntries([...productIds].map(([id, ids]) => [id, { ids }])),
      });
      expect(await answer.toMessage({})).toEqual(message);
      expect(JSON.parse(await answer.toJson({}))).toEqual(
        toJson(GetSlotsProductIdsResponseSchema, message, jsonWriteOptions),
      );
    }),
  );
});

const snippet = fc.record({
  snippetCode: text,
  slotId: int32,
  productIds: fc.array(int32, { maxLength: 5 }),
  validTill: fc.option(date),
  accessUrl: text,
});

it('The detail of a slot is encoded like its message, in both forms', async () => {
  await fc.assert(
    fc.asyncProperty(
      row,
      products,
      fc.array(int32),
      fc.array(snippet, { maxLength: 3 }),
      async (listed, known, deliverySequence, vendorSnippets) => {
        const productSlots = listed.productIds.map((productId) => ({
          slotId: listed.id,
          productId,
          product: known.get(productId) ?? null,
        }));
        const answer = new SlotDetailResponse({
          slot: { ...asText(listed), productSlots },
          deliverySequence,
          vendorSnippets: vendorSnippets.map(({ validTill, ...fields }) => ({
            ...fields,
            validTill: validTill?.getTime() ?? null,
          })),
        });
        const message = create(GetSlotByIdResponseSchema, {
          slot: {
            ...toFields(listed),
            deliverySequence,
            products: productSlots.flatMap(({ product }) => product ?? []),
            productSlots: productSlots.map(({ product, ...ids }) => ({ ...ids, ...(product && { product }) })),
            vendorSnippets: vendorSnippets.map(({ validTill, ...fields }) => ({
              ...fields,
              ...(validTill && { validTill: timestampFromDate(validTill) }),
            })),
          },
        });
        expect(await answer.toMessage({})).toEqual(message);
        expect(JSON.parse(await answer.toJson({}))).toEqual(
          toJson(GetSlotByIdResponseSchema, message, jsonWriteOptions),
        );
      },
    ),
  );
});

it('A delivery sequence is encoded like its message, in both forms, whichever was asked for before', async () => {
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

it('An updated delivery sequence is encoded like its message, in both forms', async () => {
  await fc.assert(
    fc.asyncProperty(int32, sequence, async (id, deliverySequence) => {
      const updated = { slot: { id, deliverySequence }, message: 'updated' };
      const answer = new UpdatedSequenceResponse(updated);
      const slot = { id, deliverySequence: fromJson(ValueSchema, deliverySequence) };
      const message = create(UpdateDeliverySequenceResponseSchema, { ...updated, slot });
      expect(await answer.toMessage({})).toEqual(message);
      expect(JSON.parse(await answer.toJson())).toEqual(
        toJson(UpdateDeliverySequenceResponseSchema, message, jsonWriteOptions),
      );
    }),
  );
});
