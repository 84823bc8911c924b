import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { newCouponCode } from '../../services/coupon-service/codes.ts';
import { validateCoupon } from '../../services/coupon-service/validation.ts';
import { bareQueryable, writeOf } from './bare-sql.ts';

// The coupon procedures of the bare servers.

/** The same statement and the same computation, from the code and the amount to the discount. */
export async function validate({ code, orderAmount }: { code: string; orderAmount: number }) {
  const result = await validateCoupon(bareQueryable, code, orderAmount);
  if (!result.valid) return result;
  const { id, discountPercent, flatDiscount, maxValue } = result.coupon;
  return {
    valid: true,
    discountAmount: result.discountAmount,
    coupon: {
      id,
      discountPercent: discountPercent ?? undefined,
      flatDiscount: flatDiscount ?? undefined,
      maxValue: maxValue ?? undefined,
    },
  };
}

export function createCouponWrite() {
  const write = writeOf('Create');
  return {
    async create() {
      const [row] = await write([newCouponCode('DC', Date.now())]);
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
