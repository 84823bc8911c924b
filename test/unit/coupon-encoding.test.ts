import { create, type DescMessage, fromBinary, type MessageShape, toJson } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  CouponApplicableUserSchema,
  CouponDetailSchema,
  GetAllResponseSchema,
  GetByIdResponseSchema,
  ListedCouponSchema,
  UserSchema,
} from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { jsonWriteOptions } from '../../shared/rpc/protobuf/encoding.ts';
import { LongResponse, longList, longMessage } from '../../shared/rpc/protobuf/long-message.ts';

const id = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const user = fc.record({ id, name: fc.option(text, { nil: undefined }), mobile: text });
const coupon = fc.record({
  fields: fc.record({
    id,
    couponCode: text,
    productIds: fc.option(fc.record({ ids: fc.array(id) }), { nil: undefined }),
  }),
  users: fc.array(user, { maxLength: 5 }),
});

async function expectEncoded<Output extends DescMessage>(
  open: () => LongResponse<Output>,
  message: MessageShape<Output>,
): Promise<void> {
  const { schema } = open();
  expect(fromBinary(schema, await open().toBinary({}))).toEqual(message);
  expect(JSON.parse(await open().toJson({}))).toEqual(toJson(schema, message, jsonWriteOptions));
  expect(await open().toMessage({})).toEqual(message);
}

it('A list of coupons is encoded like its message, in both forms', async () => {
  const next = fc.record({ nextCursor: fc.option(id, { nil: undefined }), nextPageToken: text });
  await fc.assert(
    fc.asyncProperty(fc.array(coupon, { maxLength: 5 }), next, async (rows, fields) => {
      const open = () => {
        const toLink = (user: { id: number }) => longMessage(CouponApplicableUserSchema, { userId: user.id, user });
        const coupons = longList(GetAllResponseSchema.field.coupons, rows, (row) =>
          longMessage(ListedCouponSchema, row.fields, [
            longList(ListedCouponSchema.field.applicableUsers, row.users, toLink),
          ]),
        );
        return new LongResponse(longMessage(GetAllResponseSchema, fields, [coupons]));
      };
      const message = create(GetAllResponseSchema, {
        ...fields,
        coupons: rows.map((row) => ({
          ...row.fields,
          applicableUsers: row.users.map((user) => ({ userId: user.id, user })),
        })),
      });
      await expectEncoded(open, message);
    }),
  );
});

it('A coupon with its users is encoded like its message, in both forms', async () => {
  await fc.assert(
    fc.asyncProperty(coupon, async ({ fields, users }) => {
      const open = () => {
        const applicable = longList(CouponDetailSchema.field.applicableUsers, users, (user) =>
          longMessage(UserSchema, user),
        );
        const detail = longMessage(CouponDetailSchema, fields, [applicable]);
        return new LongResponse(
          longMessage(GetByIdResponseSchema, {}, [
            longList(GetByIdResponseSchema.field.coupon, [detail], (one) => one),
          ]),
        );
      };
      await expectEncoded(open, create(GetByIdResponseSchema, { coupon: { ...fields, applicableUsers: users } }));
    }),
  );
});
