import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ReservedCouponSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type TermsRow, toTerms } from './coupon.ts';

/** The reserved-coupon record (spec 2.5). */
export interface ReservedCouponRow extends TermsRow {
  id: number;
  secretCode: string;
  couponCode: string;
  createdBy: number;
  createdAt: Date;
}

/** SQL of the columns of `ReservedCouponRow`. */
export const reservedColumns = `
  reserved.id, reserved.secret_code as "secretCode", reserved.coupon_code as "couponCode",
  reserved.discount_percent as "discountPercent", reserved.flat_discount as "flatDiscount",
  reserved.min_order as "minOrder", reserved.max_value as "maxValue", reserved.product_ids as "productIds",
  reserved.valid_till as "validTill", reserved.max_limit_for_user as "maxLimitForUser",
  reserved.exclusive_apply as "exclusiveApply", reserved.created_by as "createdBy", reserved.created_at as "createdAt"`;

/** The record as a `ReservedCoupon`, whose fields `ListedReservedCoupon` has, too. */
export function toReservedCoupon(row: ReservedCouponRow) {
  return {
    ...toTerms(row),
    id: row.id,
    secretCode: row.secretCode,
    couponCode: row.couponCode,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
  } satisfies MessageInitShape<typeof ReservedCouponSchema>;
}
