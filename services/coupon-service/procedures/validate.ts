import { batchedRows } from '../../../shared/batching/batched-rows.ts';
import { keyedStatement } from '../../../shared/batching/keyed-statement.ts';
import { type CouponService, ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { shownAmount } from '../../../shared/rpc/answers/shown.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { compare, type Decimal, decimal, percentOf, toNumber } from '../coupons/decimals.ts';
import { type CallerMisses, callerMisses, type MissLimit } from '../guessing/miss-limit.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, validate: returns whether a coupon is valid for an order amount, and its discount, computed with exact
 * decimals. An unusable coupon is not an error.
 *
 * With a miss limit, throws RESOURCE_EXHAUSTED for a caller that has missed too many codes (design 8).
 */
export function validate({ database, missLimit }: CouponParts): Handler<typeof CouponService.method.validate> {
  const coupons = batchedRows(database, selectCoupon, ({ couponCode }) => couponCode);
  const couponsWithinMissLimit = batchedRows(database, selectWithinMissLimit, ({ key }) => key);
  return async ({ code, orderAmount }, call) => {
    // 1
    if (code === '') return refused(ValidationRefusal.CODE_EMPTY, 'Invalid coupon code');
    const couponCode = code.toUpperCase().normalize('NFC');
    if (missLimit === undefined) return judge(await coupons.read(couponCode, call), orderAmount);
    return judge(await findWithinMissLimit(missLimit, couponCode, call), orderAmount);
  };

  /** Reads the coupon, if the caller has a miss left, in one round trip. A miss takes further ones to count. */
  async function findWithinMissLimit(limit: MissLimit, couponCode: string, call: CallContext) {
    const caller = limit.paramsOf(call);
    const found = await couponsWithinMissLimit.read(JSON.stringify({ couponCode, ...caller }), call);
    if (found === undefined) throw new Error('a statement that always has a row has none');
    limit.requireMissLeft(caller, found);
    if (found.id !== null) return found;
    await limit.count(caller, call);
    return undefined;
  }
}

/** The coupon as `judge` needs it; amounts are decimals. */
export interface ValidatedRow {
  id: number;
  discountPercent: string | null;
  flatDiscount: string | null;
  maxValue: string | null;
  minOrder: string | null;
  isExpired: boolean;
  isAvailable: boolean;
}

/** Returns the fields of the response, by rules 2 to 7. */
export function judge(coupon: ValidatedRow | undefined, orderAmount: number) {
  // 2
  if (coupon === undefined) return refused(ValidationRefusal.NOT_FOUND, 'Coupon not found or invalidated');
  // 3
  if (coupon.isExpired) return refused(ValidationRefusal.EXPIRED, 'Coupon has expired');
  // 4
  if (!coupon.isAvailable) return refused(ValidationRefusal.NOT_AVAILABLE, 'Coupon is not available for use');
  // 5
  const amount = decimal(orderAmount);
  const minOrder = positive(coupon.minOrder);
  if (minOrder !== undefined && compare(amount, minOrder) < 0) {
    const refusal = refused(ValidationRefusal.BELOW_MINIMUM, `Minimum order amount is ${toNumber(minOrder)}`);
    return { ...refusal, minOrder: shownAmount(coupon.minOrder) };
  }
  // 6 and 7
  const discount = capped(discountOf(amount, coupon), positive(coupon.maxValue));
  return {
    valid: true,
    discountAmount: toNumber(discount),
    coupon: {
      id: coupon.id,
      discountPercent: shownAmount(coupon.discountPercent),
      flatDiscount: shownAmount(coupon.flatDiscount),
      maxValue: shownAmount(coupon.maxValue),
    },
  };
}

const refused = (refusal: ValidationRefusal, message: string) => ({ valid: false, refusal, message });

const zero = decimal(0);

/** Parses an amount; undefined for null, for amounts of 0 or less (design 7), and for values that can't be shown. */
function positive(text: string | null): Decimal | undefined {
  const amount = decimal(shownAmount(text) ?? 0);
  return amount.units > 0n ? amount : undefined;
}

function discountOf(amount: Decimal, { discountPercent, flatDiscount }: ValidatedRow): Decimal {
  const percent = positive(discountPercent);
  if (percent !== undefined) return percentOf(amount, percent);
  return positive(flatDiscount) ?? zero;
}

function capped(discount: Decimal, maxValue: Decimal | undefined): Decimal {
  return maxValue !== undefined && compare(discount, maxValue) > 0 ? maxValue : discount;
}

const validatedColumns = `id, discount_percent as "discountPercent", flat_discount as "flatDiscount",
     max_value as "maxValue", min_order as "minOrder",
     coalesce(valid_till < now(), false) as "isExpired", -- 3
     is_apply_for_all or is_user_based as "isAvailable" -- 4`;

const selectCoupon = keyedStatement<string, ValidatedRow & { couponCode: string }>(
  'validate',
  'text',
  `select coupon_code as "couponCode", ${validatedColumns}
   from coupons where coupon_code = $key and not is_invalidated -- 2`,
);

/** `$key` is JSON with the code and the caller's parameters. */
const selectWithinMissLimit = keyedStatement<string, CallerMisses & { key: string } & (ValidatedRow | { id: null })>(
  'validateWithinLimit',
  'json',
  `select $key::text as key, * from (${callerMisses}) as caller left join (
     select ${validatedColumns}
     from coupons where coupon_code = $key->>'couponCode' and not is_invalidated -- 2
   ) as coupon on true`,
);
