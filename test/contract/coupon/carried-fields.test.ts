import { type DescField, fromJson, type JsonValue, ScalarType } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { IdListSchema } from '../../../shared/gen/common/v1/id_list_pb.ts';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { type CouponBody, CouponBodySchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { couponContract } from '../../support/contract.ts';

/** Fields that no coupon has: one is accepted and not used, and one says that there are no product ids. */
const notStored = ['targetUser', 'clearProductIds'];
/** A reserved coupon is for whoever claims it. */
const setByReserved = ['isUserBased', 'applicableUsers', 'isApplyForAll'];
/** The codes of a batch are drawn. */
const setByBatch = ['couponCode'];

/** A value that differs from the default. A date is a good code, too. */
function sampleOf({ message, scalar, name }: DescField): JsonValue {
  if (message === IdListSchema) return { ids: [1, 2] };
  if (scalar === ScalarType.BOOL) return true;
  if (scalar === ScalarType.STRING) return '2031-01-02';
  if (scalar === ScalarType.INT32 || scalar === ScalarType.DOUBLE) return 7;
  throw new Error(`${name} needs a sample`);
}

const others = (fields: readonly string[]) =>
  CouponBodySchema.fields.filter(({ localName }) => ![...notStored, ...fields].includes(localName));

couponContract('The fields of a coupon', (api) => {
  const staff = () => api.transportAs('staff');
  /** The field of a coupon, as GetById has it. Its code is free again afterwards. */
  const read = async (id: number | undefined, { localName }: DescField) => {
    const { coupon } = await api.staff.getById({ id });
    await api.sql(`update coupons set coupon_code = 'READ-' || id where id = $1`, [id]);
    return new Map(Object.entries(coupon ?? {})).get(localName);
  };
  const byCreate = async (coupon: CouponBody) => (await api.staff.create({ coupon })).coupon?.id;
  const byUpdate = async (coupon: CouponBody) => {
    const id = await byCreate(bodyWith({}));
    return (await api.staff.update({ id, updates: { coupon } })).coupon?.id;
  };
  const byReserved = async (coupon: CouponBody) => {
    const { reservedCoupon } = await api.staff.createReservedCoupon({ coupon });
    const secretCode = reservedCoupon?.secretCode ?? '';
    return (await createClient(RedemptionService, staff()).claim({ secretCode, userId: 1 })).coupon?.id;
  };
  const byBatch = async (coupon: CouponBody) => {
    const batches = createClient(CouponBatchService, staff());
    const { batch } = await batches.createBatch({ count: 1, coupon });
    return (await batches.getBatch({ id: batch?.id })).coupons[0]?.id;
  };
  const bodyWith = (sample: { readonly [field: string]: JsonValue }) => {
    const discount = 'discountPercent' in sample ? {} : { flatDiscount: 5 };
    return fromJson(CouponBodySchema, { ...discount, applicableUsers: { ids: [1] }, ...sample });
  };

  it.each([
    ...others([]).map((field) => ['Create', field.localName, field, byCreate] as const),
    ...others([]).map((field) => ['Update', field.localName, field, byUpdate] as const),
    ...others(setByReserved).map((field) => ['CreateReservedCoupon', field.localName, field, byReserved] as const),
    ...others(setByBatch).map((field) => ['CreateBatch', field.localName, field, byBatch] as const),
  ])(
    '%s carries %s into the coupon and the audit trail, as every field that it does not set itself',
    async (rpc, name, field, make) => {
      const body = bodyWith({ [field.jsonName]: sampleOf(field) });
      const carried = await read(await byCreate(body), field);
      expect(carried).not.toEqual(await read(await byCreate(bodyWith({})), field));
      expect(await read(await make(body), field)).toEqual(carried);
      const entries = await api.sql('select from audit_entries where procedure like $1 and after::jsonb ? $2', [
        `%/${rpc}`,
        name,
      ]);
      expect(entries).not.toEqual([]);
    },
  );
});
