import type { ReservedCouponSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';
import { shownTime } from '../../../shared/rpc/answers/shown.ts';
import { type TermsRow, toTerms } from './coupon.ts';

/** The reserved-coupon record (spec 2.5). */
export interface ReservedCouponRow extends TermsRow {
  id: number;
  secretCode: string;
  couponCode: string;
  createdBy: number;
  createdAt: Date;
}

/** Returns SQL of the columns of `ReservedCouponRow`. `productIds` is SQL of the product ids to show. */
export const reservedColumnsWith = (productIds: string) => `
  reserved_coupons.id, reserved_coupons.secret_code as "secretCode", reserved_coupons.coupon_code as "couponCode",
  reserved_coupons.discount_percent as "discountPercent", reserved_coupons.flat_discount as "flatDiscount",
  reserved_coupons.min_order as "minOrder", reserved_coupons.max_value as "maxValue", ${productIds} as "productIds",
  reserved_coupons.valid_till as "validTill", reserved_coupons.max_limit_for_user as "maxLimitForUser",
  reserved_coupons.exclusive_apply as "exclusiveApply", reserved_coupons.created_by as "createdBy", reserved_coupons.created_at as "createdAt"`;
export const reservedColumns = reservedColumnsWith('reserved_coupons.product_ids');

/** Converts a record to a `ReservedCoupon`. `ListedReservedCoupon` has the same fields. */
export function toReservedCoupon(row: ReservedCouponRow) {
  return {
    ...toTerms(row),
    id: row.id,
    secretCode: row.secretCode,
    couponCode: row.couponCode,
    createdBy: row.createdBy,
    createdAt: shownTime(row.createdAt),
  } satisfies Answer<typeof ReservedCouponSchema>;
}
