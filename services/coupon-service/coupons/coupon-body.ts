import { fail } from '../../../shared/errors/errors.ts';
import type { CouponBody as CouponBodyMessage } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { readCode } from '../../../shared/rpc/code-text.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import { couponErrors } from '../errors.ts';

/**
 * Reads a CouponBody (spec 4.2) as the values of a statement; an absent one is an empty one. Lists of
 * ids are sets, which the validation interceptor made of them: their sizes can be compared with counts of rows. In productIds and validTill, null stores null and undefined is "not given".
 *
 * @param field where it stands in the request.
 * @throws INVALID_ARGUMENT for a date that does not parse, and for a code that nobody could type: types come before all rules.
 */
export function readCouponBody(field: 'coupon' | 'updates.coupon', body: Partial<CouponBodyMessage> | undefined = {}) {
  const { couponCode, validTill } = body;
  return {
    couponCode: couponCode === undefined ? undefined : readCode(`${field}.coupon_code`, couponCode),
    isUserBased: body.isUserBased,
    discountPercent: body.discountPercent,
    flatDiscount: body.flatDiscount,
    minOrder: body.minOrder,
    maxValue: body.maxValue,
    productIds: body.clearProductIds ? null : body.productIds?.ids,
    applicableUsers: body.applicableUsers?.ids,
    applicableProducts: body.applicableProducts?.ids,
    isApplyForAll: body.isApplyForAll,
    validTill: validTill === undefined ? undefined : optionalDate(`${field}.valid_till`, validTill),
    maxLimitForUser: body.maxLimitForUser,
    exclusiveApply: body.exclusiveApply,
  };
}

export type CouponBody = ReturnType<typeof readCouponBody>;

/** The terms of a body that both kinds of coupon have. */
export type Terms = Pick<
  CouponBody,
  'discountPercent' | 'flatDiscount' | 'minOrder' | 'maxValue' | 'productIds' | 'validTill' | 'maxLimitForUser'
>;

/** Throws INVALID_ARGUMENT unless exactly one discount is present and not zero (spec 4.2, rule 1). */
export function requireOneDiscount({ discountPercent, flatDiscount }: CouponBody): void {
  if (!discountPercent === !flatDiscount) throw fail(couponErrors.oneDiscountRequired);
}
