import { idsEntryJson, linksEntryJson } from '../../../shared/audit/entry.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CouponBody as CouponBodyMessage } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { readCode } from '../../../shared/rpc/code-text.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import { couponErrors } from '../errors.ts';

/**
 * Converts a CouponBody (spec 4.2) to statement parameters; an absent body is an empty one. The validation interceptor
 * has deduplicated the id lists, so their lengths can be compared with row counts. In productIds and the dates, null
 * clears the value and undefined means "not given".
 *
 * @param field the body's path in the request.
 * @throws INVALID_ARGUMENT for a date that does not parse, and for a code that `readCode` refuses. Type
 * checks come before all rules.
 */
export function readCouponBody(field: 'coupon' | 'updates.coupon', body: Partial<CouponBodyMessage> | undefined = {}) {
  const { couponCode } = body;
  const date = (name: string, text: string | undefined) =>
    text === undefined ? undefined : optionalDate(`${field}.${name}`, text);
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
    startsAt: date('starts_at', body.startsAt),
    validTill: date('valid_till', body.validTill),
    maxLimitForUser: body.maxLimitForUser,
    maxUses: body.maxUses,
    exclusiveApply: body.exclusiveApply,
  };
}

export type CouponBody = ReturnType<typeof readCouponBody>;

/** How many links a coupon gets, each a row, and how many ids its list has. */
export const rowsOf = ({ productIds, applicableUsers, applicableProducts }: CouponBody) =>
  [(applicableUsers?.length ?? 0) + (applicableProducts?.length ?? 0), productIds?.length ?? 0] as const;

/** Returns the parameters of a new coupon of either kind, with its id lists as JSON for the audit entry. */
export function newCoupon(body: CouponBody) {
  const { isUserBased = false, isApplyForAll = false, exclusiveApply = false, productIds } = body;
  const { applicableUsers = [], applicableProducts = [] } = body;
  return {
    ...body,
    ...{ isUserBased, isApplyForAll, exclusiveApply, applicableUsers, applicableProducts },
    productIdsJson: productIds && idsEntryJson(productIds),
    usersJson: linksEntryJson(applicableUsers),
    productsJson: linksEntryJson(applicableProducts),
  };
}

export type NewCoupon = ReturnType<typeof newCoupon>;

/** Throws INVALID_ARGUMENT unless exactly one discount is present and non-zero (spec 4.2, rule 1). */
export function requireOneDiscount({ discountPercent, flatDiscount }: CouponBody): void {
  if (!discountPercent === !flatDiscount) throw fail(couponErrors.oneDiscountRequired);
}

/** Throws INVALID_ARGUMENT unless a coupon with these fields may be created (spec 4.2, create, rules 1 to 3). */
export function requireCreatable(body: CouponBody): void {
  const { isUserBased, isApplyForAll, applicableUsers } = body;
  // 1
  requireOneDiscount(body);
  // 2
  if (isUserBased && !applicableUsers?.length && !isApplyForAll) throw fail(couponErrors.usersOrAllRequired);
  // 3
  if (isUserBased && isApplyForAll) throw fail(couponErrors.userBasedAndForAll);
}
