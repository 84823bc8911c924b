import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { ConditionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { compare, type Decimal, decimal, least, percentOf, round, toNumber } from './decimals.ts';

// The rules by which Validate, Redeem and Check judge a coupon (spec 4.2, validate; design 13, 16).

/** The coupon as the rules need it; amounts are decimals. */
export interface JudgedCoupon {
  id: number;
  discountPercent: string | null;
  flatDiscount: string | null;
  maxValue: string | null;
  minOrder: string | null;
  isExpired: boolean;
  isNotStarted: boolean;
  isNotAvailable: boolean;
}

/** SQL of the columns of `JudgedCoupon`. The time is the statement's, because a transaction may have begun earlier. */
export const judgedColumns = `
  id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue", min_order as "minOrder",
  coalesce(valid_till < statement_timestamp(), false) as "isExpired",
  coalesce(starts_at > statement_timestamp(), false) as "isNotStarted",
  not (is_apply_for_all or is_user_based) as "isNotAvailable"`;

/** Converts a code to the form in which coupons are looked up. */
export const toLookedUpForm = (code: string) => code.toUpperCase().normalize('NFC');

/** The rules in their order. A coupon is refused for the first one whose fact is true. */
const rules = [
  // 3
  { fact: 'isExpired', refusal: ValidationRefusal.EXPIRED, message: 'Coupon has expired' },
  { fact: 'isNotStarted', refusal: ValidationRefusal.NOT_STARTED, message: 'Coupon has not started' },
  // 4
  { fact: 'isNotAvailable', refusal: ValidationRefusal.NOT_AVAILABLE, message: 'Coupon is not available for use' },
  // 5
  { fact: 'isBelowMinimum', refusal: ValidationRefusal.BELOW_MINIMUM, message: 'Minimum order amount is ' },
  { fact: 'isNotForUser', refusal: ValidationRefusal.NOT_FOR_USER, message: 'Coupon is not available for this user' },
  {
    fact: 'isNotForProducts',
    refusal: ValidationRefusal.NOT_FOR_PRODUCTS,
    message: 'Coupon does not apply to these products',
  },
  { fact: 'hasConflict', refusal: ValidationRefusal.EXCLUSIVE, message: "Coupon can't be combined" },
  { fact: 'isLimitReached', refusal: ValidationRefusal.LIMIT_REACHED, message: 'Coupon limit reached' },
  { fact: 'isUsedUp', refusal: ValidationRefusal.USED_UP, message: 'Coupon has been used up' },
] as const;

const { MET, FAILED, NOT_CHECKED } = ConditionState;

type Rule = (typeof rules)[number];

/** What is known of a coupon, or of an order. Null: the coupon asks for what the request does not say. */
type Facts = { readonly [Fact in Rule['fact']]?: boolean | null };
type FactsOfCoupon = Facts & Pick<JudgedCoupon, 'minOrder'>;

/** Returns the fields of the refusal by the first rule that is broken, if any. A fact that is missing breaks none. */
export function refusalOf(coupon: FactsOfCoupon, order: Facts): Refused | undefined {
  // One after the other: to merge them would take longer than all else here.
  const broken = rules.find(({ fact }) => coupon[fact] === true || order[fact] === true);
  if (broken === undefined) return undefined;
  const minOrder = broken.fact === 'isBelowMinimum' ? (coupon.minOrder ?? undefined) : undefined;
  return { ...refused(broken.refusal, messageOf(broken, coupon)), minOrder };
}

/** Returns the conditions of all rules, in their order. */
export function conditionsOf(coupon: FactsOfCoupon, order: Facts) {
  return rules.map((rule) => {
    const isBroken = coupon[rule.fact] ?? order[rule.fact];
    const state = isBroken === true ? FAILED : isBroken === false ? MET : NOT_CHECKED;
    return { condition: rule.refusal, state, message: isBroken === true ? messageOf(rule, coupon) : '' };
  });
}

function messageOf({ fact, message }: Rule, { minOrder }: FactsOfCoupon): string {
  return fact === 'isBelowMinimum' ? `${message}${toNumber(decimal(minOrder ?? 0))}` : message;
}

/**
 * Whether an order is below a coupon's minimum; null if its amount is not said.
 *
 * @param digits to which its amount is rounded, if any; then the minimum is, too.
 */
export function isBelowMinimum(
  { minOrder }: Pick<JudgedCoupon, 'minOrder'>,
  orderAmount: Decimal | undefined,
  digits?: number,
) {
  const minimum = positive(minOrder);
  if (minimum === undefined) return false;
  return orderAmount === undefined ? null : compare(orderAmount, round(minimum, digits, 'half up')) < 0;
}

/** Returns the fields of the refusal of a code without a coupon (rules 1 and 2). */
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

const refused = (refusal: ValidationRefusal, message: string): Refused => ({ valid: false, refusal, message });

const zero = decimal(0);

/** Parses an amount; undefined for null, and for amounts of 0 or less (design 7). */
function positive(text: string | null): Decimal | undefined {
  const amount = decimal(text ?? 0);
  return amount.units > 0n ? amount : undefined;
}

/** Returns the exact discount of an amount (rules 6 and 7). */
export function discountOf({ discountPercent, flatDiscount, maxValue }: JudgedCoupon, amount: Decimal): Decimal {
  const percent = positive(discountPercent);
  const discount = percent === undefined ? (positive(flatDiscount) ?? zero) : percentOf(amount, percent);
  return least(discount, positive(maxValue) ?? discount);
}

/**
 * Returns the discount of an order (design 16): at most the amount that it is computed of. With a number of digits, it is
 * rounded half up to these, or down where it would be more than that amount or than the largest discount.
 */
export function orderDiscountOf(coupon: JudgedCoupon, amount: Decimal, digits: number | undefined): Decimal {
  const exact = least(discountOf(coupon, amount), amount);
  const rounded = round(exact, digits, 'half up');
  const most = least(amount, positive(coupon.maxValue) ?? amount);
  return compare(rounded, most) > 0 ? round(exact, digits, 'down') : rounded;
}
