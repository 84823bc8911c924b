import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { lastSixDigits, newCode } from '../../services/coupon-service/coupons/codes.ts';
import { judge, type ValidatedRow } from '../../services/coupon-service/procedures/validate.ts';
import { readOf, writeOf } from './bare-sql.ts';

// The coupon procedures of the bare servers.

const validateSql = `
  select id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue",
    min_order as "minOrder", coalesce(valid_till < now(), false) as "isExpired",
    is_apply_for_all or is_user_based as "isAvailable"
  from coupons where coupon_code = $1 and not is_invalidated`;

/** The same computation, from the code and the amount to the discount. */
export function couponRead() {
  const read = readOf<ValidatedRow>('validate', validateSql);
  return {
    async validate({ code, orderAmount }: { code: string; orderAmount: number }) {
      const [coupon] = await read([code.toUpperCase()]);
      return judge(coupon, orderAmount);
    },
  };
}

export function createCouponWrite() {
  const write = writeOf('Create');
  return {
    async create() {
      const [row] = await write([newCode('DC', lastSixDigits(Date.now()), 6)]);
      if (row === undefined) throw new Error('the coupon was not stored');
      return {
        coupon: {
          id: row.id,
          couponCode: row.couponCode,
          isUserBased: row.isUserBased,
          discountPercent: row.discountPercent ?? undefined,
          flatDiscount: row.flatDiscount ?? undefined,
          minOrder: row.minOrder ?? undefined,
          maxValue: row.maxValue ?? undefined,
          productIds: row.productIds ? { ids: row.productIds } : undefined,
          isApplyForAll: row.isApplyForAll,
          validTill: row.validTill ? timestampFromDate(row.validTill) : undefined,
          maxLimitForUser: row.maxLimitForUser ?? undefined,
          exclusiveApply: row.exclusiveApply,
          isInvalidated: row.isInvalidated,
          createdBy: row.createdBy,
          createdAt: timestampFromDate(row.createdAt),
        },
      };
    },
  };
}
