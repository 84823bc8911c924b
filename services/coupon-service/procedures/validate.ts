import { onlyRow, statement } from '../../../shared/db/statement.ts';
import type { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { keyedStatement, sharedRows } from '../../../shared/reads/shared-read.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { decimal, toNumber } from '../coupons/decimals.ts';
import {
  discountOf,
  isBelowMinimum,
  type JudgedCoupon,
  judgedColumns,
  notFound,
  refusalOf,
  toLookedUpForm,
} from '../coupons/judgement.ts';
import { type CallerMisses, type CallerParams, callerMisses, type MissLimit } from '../guessing/miss-limit.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, validate: returns whether a coupon is valid for an order amount, and its discount, computed with exact
 * decimals. An unusable coupon is not an error.
 *
 * With a miss limit, throws RESOURCE_EXHAUSTED for a caller that has missed too many codes (design 8).
 */
export function validate({ database, missLimit }: CouponParts): Handler<typeof CouponService.method.validate> {
  const coupons = sharedRows(database, selectCoupon, ({ couponCode }) => couponCode);
  return async ({ code, orderAmount }, call) => {
    const coupon = code === '' ? undefined : await find(toLookedUpForm(code), call);
    return toAnswer(code, coupon, orderAmount);
  };

  function find(couponCode: string, call: CallContext): Promise<JudgedCoupon | undefined> {
    return missLimit === undefined ? coupons.read(couponCode, call) : findWithinMissLimit(missLimit, couponCode, call);
  }

  /**
   * Reads the coupon, if the caller has a miss left, in one round trip. A miss takes further ones to count. Calls don't
   * share the statement: they keep their permits, which bound how many guess at once.
   */
  async function findWithinMissLimit(limit: MissLimit, couponCode: string, call: CallContext) {
    const params = { couponCode, ...limit.paramsOf(call) };
    const found = onlyRow(await database.for(call).query(selectWithinMissLimit(params)));
    limit.requireMissLeft(found);
    if (found.id !== null) return found;
    await limit.count(call);
    return undefined;
  }
}

/** Judges a coupon by rules 1 to 7. Returns the fields of the response. */
export function toAnswer(code: string, coupon: JudgedCoupon | undefined, orderAmount: number) {
  // 1 and 2
  if (code === '' || coupon === undefined) return notFound(code);
  const amount = decimal(orderAmount);
  // 3 to 5
  const refusal = refusalOf(coupon, { isBelowMinimum: isBelowMinimum(coupon, amount) });
  if (refusal !== undefined) return refusal;
  return {
    valid: true,
    // 6 and 7
    discountAmount: toNumber(discountOf(coupon, amount)),
    coupon: {
      id: coupon.id,
      discountPercent: coupon.discountPercent ?? undefined,
      flatDiscount: coupon.flatDiscount ?? undefined,
      maxValue: coupon.maxValue ?? undefined,
    },
  };
}

const selectCoupon = keyedStatement<string, JudgedCoupon & { couponCode: string }>(
  'validate',
  'text',
  `select coupon_code as "couponCode", ${judgedColumns}
   from coupons where coupon_code = $key and not is_invalidated -- spec 4.2, rule 2`,
);

const selectWithinMissLimit = statement<
  CallerMisses & (JudgedCoupon | { id: null }),
  CallerParams & { couponCode: string }
>(
  'validateWithinLimit',
  `select * from (${callerMisses}) as caller left join (
     select ${judgedColumns}
     from coupons where coupon_code = $couponCode and not is_invalidated -- spec 4.2, rule 2
   ) as coupon on true`,
);
