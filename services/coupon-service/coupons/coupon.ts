import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CouponSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { shownAmount, shownList, shownTime } from '../../../shared/rpc/protobuf/shown.ts';

/** The terms that coupons and reserved coupons share (spec 2.4, 2.5). Amounts are decimals. */
export interface TermsRow {
  discountPercent: string | null;
  flatDiscount: string | null;
  minOrder: string | null;
  maxValue: string | null;
  productIds: number[] | null;
  validTill: Date | null;
  maxLimitForUser: number | null;
  exclusiveApply: boolean;
}

/** The coupon record (spec 2.4). */
export interface CouponRow extends TermsRow {
  id: number;
  couponCode: string;
  isUserBased: boolean;
  isApplyForAll: boolean;
  isInvalidated: boolean;
  createdBy: number;
  createdAt: Date;
  etag: string;
}

/** SQL of the columns of `CouponRow`, with the product ids that are shown. */
export const couponColumnsWith = (productIds: string) => `
  coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
  coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
  coupons.min_order as "minOrder", coupons.max_value as "maxValue", ${productIds} as "productIds",
  coupons.is_apply_for_all as "isApplyForAll", coupons.valid_till as "validTill",
  coupons.max_limit_for_user as "maxLimitForUser", coupons.exclusive_apply as "exclusiveApply",
  coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
  coupons.etag`;
// As JSON, which is parsed in a fraction of the time of an array.
export const couponColumns = couponColumnsWith('to_json(coupons.product_ids)');

/** SQL of the terms of a coupon or reserved coupon but for its products, as its audit entries show them. `row` is the record. */
export const termsFields = (row: string) => `
  'discountPercent', ${row}.discount_percent::text, 'flatDiscount', ${row}.flat_discount::text,
  'minOrder', ${row}.min_order::text, 'maxValue', ${row}.max_value::text,
  'validTill', api_time(${row}.valid_till), 'maxLimitForUser', ${row}.max_limit_for_user,
  'exclusiveApply', ${row}.exclusive_apply, 'createdBy', ${row}.created_by, 'createdAt', api_time(${row}.created_at)`;

/** SQL of a coupon's own fields, as its audit entries show them. */
export const couponFields = (row: string) => `
  'couponCode', ${row}.coupon_code, 'isUserBased', ${row}.is_user_based, 'isApplyForAll', ${row}.is_apply_for_all,
  'isInvalidated', ${row}.is_invalidated, ${termsFields(row)}`;

/** The terms as the fields of a message: null, and what can't be shown, is an absent field. */
export function toTerms(row: TermsRow) {
  return {
    discountPercent: shownAmount(row.discountPercent),
    flatDiscount: shownAmount(row.flatDiscount),
    minOrder: shownAmount(row.minOrder),
    maxValue: shownAmount(row.maxValue),
    productIds: row.productIds === null ? undefined : { ids: shownList(row.productIds) },
    validTill: shownTime(row.validTill),
    maxLimitForUser: row.maxLimitForUser ?? undefined,
    exclusiveApply: row.exclusiveApply,
  };
}

/** The record as a `Coupon`, whose fields `ListedCoupon` and `CouponDetail` have, too. */
export function toCoupon(row: CouponRow) {
  return {
    ...toTerms(row),
    id: row.id,
    couponCode: row.couponCode,
    isUserBased: row.isUserBased,
    isApplyForAll: row.isApplyForAll,
    isInvalidated: row.isInvalidated,
    createdBy: row.createdBy,
    createdAt: shownTime(row.createdAt),
    etag: row.etag,
  } satisfies MessageInitShape<typeof CouponSchema>;
}
