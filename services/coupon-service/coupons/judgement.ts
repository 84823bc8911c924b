import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { compare, type Decimal, decimal, percentOf, toNumber } from './decimals.ts';

// The rules by which Validate and Redeem judge a coupon (spec 4.2, validate).

/** The coupon as the rules need it; amounts are decimals. */
export interface JudgedCoupon {
  id: number;
  discountPercent: string | null;
  flatDiscount: string | null;
  maxValue: string | null;
  minOrder: string | null;
  isExpired: boolean;
  isAvailable: boolean;
}

/** SQL of the columns of `JudgedCoupon`. The time is the statement's, because a transaction may have begun earlier. */
export const judgedColumns = `
  id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue", min_order as "minOrder",
  coalesce(valid_till < statement_timestamp(), false) as "isExpired", is_apply_for_all or is_user_based as "isAvailable"`;

/** Converts a code to the form in which coupons are looked up. */
export const toLookedUpForm = (code: string) => code.toUpperCase().normalize('NFC');

/** Judges a coupon, or none, for an order amount: the fields of a refusal, or the exact discount. */
export function judge(code: string, coupon: JudgedCoupon | undefined, orderAmount: number) {
  // 1 and 2
  if (code === '' || coupon === undefined) return { refused: notFound(code) };
  // 3
  if (coupon.isExpired) return refusal(ValidationRefusal.EXPIRED, 'Coupon has expired');
  // 4
  if (!coupon.isAvailable) return refusal(ValidationRefusal.NOT_AVAILABLE, 'Coupon is not available for use');
  // 5
  const amount = decimal(orderAmount);
  const minOrder = positive(coupon.minOrder);
  if (minOrder !== undefined && compare(amount, minOrder) < 0) {
    const message = `Minimum order amount is ${toNumber(minOrder)}`;
    return {
      refused: { ...refused(ValidationRefusal.BELOW_MINIMUM, message), minOrder: coupon.minOrder ?? undefined },
    };
  }
  // 6 and 7
  return { refused: undefined, coupon, discount: capped(discountOf(amount, coupon), positive(coupon.maxValue)) };
}

/** Returns the fields of the refusal of a code without a coupon. */
export const notFound = (code: string) =>
  code === ''
    ? refused(ValidationRefusal.CODE_EMPTY, 'Invalid coupon code')
    : refused(ValidationRefusal.NOT_FOUND, 'Coupon not found or invalidated');

/** The fields of an answer that refuses a coupon. */
interface Refused {
  valid: false;
  refusal: ValidationRefusal;
  message: string;
  minOrder?: string | undefined;
}

export const refused = (refusal: ValidationRefusal, message: string): Refused => ({ valid: false, refusal, message });

const refusal = (...why: Parameters<typeof refused>) => ({ refused: refused(...why) });

const zero = decimal(0);

/** Parses an amount; undefined for null, and for amounts of 0 or less (design 7). */
function positive(text: string | null): Decimal | undefined {
  const amount = decimal(text ?? 0);
  return amount.units > 0n ? amount : undefined;
}

function discountOf(amount: Decimal, { discountPercent, flatDiscount }: JudgedCoupon): Decimal {
  const percent = positive(discountPercent);
  if (percent !== undefined) return percentOf(amount, percent);
  return positive(flatDiscount) ?? zero;
}

function capped(discount: Decimal, maxValue: Decimal | undefined): Decimal {
  return maxValue !== undefined && compare(discount, maxValue) > 0 ? maxValue : discount;
}
