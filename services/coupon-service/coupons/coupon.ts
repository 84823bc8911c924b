import type { CouponSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';

/** The terms that coupons and reserved coupons share (spec 2.4, 2.5). Amounts are decimals. */
export interface TermsRow {
  discountPercent: string | null;
  flatDiscount: string | null;
  minOrder: string | null;
  maxValue: string | null;
  productIds: number[] | null;
  startsAt: Date | null;
  validTill: Date | null;
  maxLimitForUser: number | null;
  maxUses: number | null;
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
  batchId: number | null;
}

/** Returns SQL of the columns of `TermsRow` in a table. `productIds` is SQL of the product ids to show. */
export const termsColumnsOf = (table: 'coupons' | 'reserved_coupons', productIds: string) => `
  ${table}.discount_percent as "discountPercent", ${table}.flat_discount as "flatDiscount",
  ${table}.min_order as "minOrder", ${table}.max_value as "maxValue", ${productIds} as "productIds",
  ${table}.starts_at as "startsAt", ${table}.valid_till as "validTill",
  ${table}.max_limit_for_user as "maxLimitForUser", ${table}.max_uses as "maxUses", ${table}.exclusive_apply as "exclusiveApply"`;

/** Returns SQL of the columns of `CouponRow`. `productIds` is SQL of the product ids to show. */
export const couponColumnsWith = (productIds: string) => `
  coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
  coupons.is_apply_for_all as "isApplyForAll", ${termsColumnsOf('coupons', productIds)},
  coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt",
  coupons.etag, coupons.batch_id as "batchId"`;
// The ids are read as JSON, which parses faster than an array.
export const couponColumns = couponColumnsWith('to_json(coupons.product_ids)');

/** Returns SQL of the audited terms of either kind of coupon, except its products. `row` names the record. */
export const termsFields = (row: string) => `
  'discountPercent', ${row}.discount_percent::text, 'flatDiscount', ${row}.flat_discount::text,
  'minOrder', ${row}.min_order::text, 'maxValue', ${row}.max_value::text,
  'startsAt', api_time(${row}.starts_at), 'validTill', api_time(${row}.valid_till),
  'maxLimitForUser', ${row}.max_limit_for_user, 'maxUses', ${row}.max_uses,
  'exclusiveApply', ${row}.exclusive_apply, 'createdBy', ${row}.created_by, 'createdAt', api_time(${row}.created_at)`;

/** Returns SQL of a coupon's audited fields, except its products. `row` names the record. */
export const couponFields = (row: string) => `
  'couponCode', ${row}.coupon_code, 'isUserBased', ${row}.is_user_based, 'isApplyForAll', ${row}.is_apply_for_all,
  'isInvalidated', ${row}.is_invalidated, ${termsFields(row)}`;

/** Converts the terms to message fields. Null becomes an absent field. */
export function toTerms(row: TermsRow) {
  return {
    discountPercent: row.discountPercent ?? undefined,
    flatDiscount: row.flatDiscount ?? undefined,
    minOrder: row.minOrder ?? undefined,
    maxValue: row.maxValue ?? undefined,
    productIds: row.productIds === null ? undefined : { ids: row.productIds },
    startsAt: row.startsAt?.getTime(),
    validTill: row.validTill?.getTime(),
    maxLimitForUser: row.maxLimitForUser ?? undefined,
    maxUses: row.maxUses ?? undefined,
    exclusiveApply: row.exclusiveApply,
  };
}

/** Converts a record to a `Coupon`. `ListedCoupon` and `CouponDetail` have the same fields. */
export function toCoupon(row: CouponRow) {
  const fields = { ...row, ...toTerms(row), createdAt: row.createdAt.getTime(), batchId: row.batchId ?? undefined };
  return fields satisfies Answer<typeof CouponSchema>;
}
