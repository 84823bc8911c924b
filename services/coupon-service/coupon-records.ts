import { type ErrorRow, fail } from '../../shared/errors/errors.ts';
import { couponErrors } from './errors.ts';

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
}

export const couponColumns = `
  coupons.id, coupons.coupon_code as "couponCode", coupons.is_user_based as "isUserBased",
  coupons.discount_percent as "discountPercent", coupons.flat_discount as "flatDiscount",
  coupons.min_order as "minOrder", coupons.max_value as "maxValue", coupons.product_ids as "productIds",
  coupons.is_apply_for_all as "isApplyForAll", coupons.valid_till as "validTill",
  coupons.max_limit_for_user as "maxLimitForUser", coupons.exclusive_apply as "exclusiveApply",
  coupons.is_invalidated as "isInvalidated", coupons.created_by as "createdBy", coupons.created_at as "createdAt"`;

/** What coupons are made of (spec 4.2, CouponBody), as far as it is used. Lists of ids are sets. */
export interface CouponBody {
  readonly couponCode: string | undefined;
  readonly isUserBased: boolean | undefined;
  readonly discountPercent: number | undefined;
  readonly flatDiscount: number | undefined;
  readonly minOrder: number | undefined;
  /** null stores null. */
  readonly productIds: readonly number[] | null | undefined;
  readonly applicableUsers: readonly number[] | undefined;
  readonly applicableProducts: readonly number[] | undefined;
  readonly maxValue: number | undefined;
  readonly isApplyForAll: boolean | undefined;
  /** null is no date. */
  readonly validTill: Date | null | undefined;
  readonly maxLimitForUser: number | undefined;
  readonly exclusiveApply: boolean | undefined;
}

/** Throws INVALID_ARGUMENT unless exactly one discount is present and non-zero (spec 4.2). */
export function requireOneDiscount({ discountPercent, flatDiscount }: CouponBody): void {
  if (!discountPercent === !flatDiscount) throw fail(couponErrors.oneDiscountRequired);
}

/** Who creates a coupon, and how its code starts when one is made up. */
export interface Issuer {
  readonly staffId: number | undefined;
  readonly codePrefix: string;
}

/**
 * What a statement answers with that writes only when no rule is broken, so that nothing is ever to
 * be undone: the record, or the reason of the first rule that is broken.
 */
export type Written<Row> = (Row & { refusal: null }) | { id: null; refusal: string | null };

const errorsByReason = new Map<string, ErrorRow>(Object.values(couponErrors).map((row) => [row.reason, row]));

/**
 * The record that a conditional statement has written.
 *
 * @param raced what is wrong when no rule was broken yet: a call at the same time came first.
 * @throws the error of the rule that is broken.
 */
export function writtenRow<Row extends { id: number }>([row]: readonly Written<Row>[], raced: ErrorRow): Row {
  if (row === undefined) throw new Error('a conditional statement has one row');
  if (row.id === null) throw fail(errorsByReason.get(row.refusal ?? '') ?? raced);
  return row;
}
