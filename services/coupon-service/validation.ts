import { type Queryable, statement } from '../../shared/db/database.ts';
import { compare, type Decimal, decimal, percentOf, toNumber } from './decimals.ts';

/** What validate shows of the coupon (spec 4.2). */
export interface ValidatedCoupon {
  readonly id: number;
  readonly discountPercent: string | null;
  readonly flatDiscount: string | null;
  readonly maxValue: string | null;
}

export type Validation =
  | { readonly valid: false; readonly message: string }
  | { readonly valid: true; readonly discountAmount: number; readonly coupon: ValidatedCoupon };

interface ValidatedRow extends ValidatedCoupon {
  minOrder: string | null;
  isExpired: boolean;
  isAvailable: boolean;
}

const couponToValidate = statement<ValidatedRow>(
  'couponToValidate',
  `select id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue",
     min_order as "minOrder", coalesce(valid_till < now(), false) as "isExpired",
     is_apply_for_all or is_user_based as "isAvailable"
   from coupons where coupon_code = $1 and not is_invalidated`,
);

const zero = decimal(0);

/**
 * Spec 4.2, validate: whether a coupon can be used for an order amount, and the discount it gives,
 * computed on exact decimals. A coupon that can't be used is no error.
 */
export async function validateCoupon(db: Queryable, code: string, orderAmount: number): Promise<Validation> {
  // 1
  if (code === '') return refused('Invalid coupon code');
  // 2
  const [row] = await db.query(couponToValidate, [code.toUpperCase()]);
  if (row === undefined) return refused('Coupon not found or invalidated');
  // 3
  if (row.isExpired) return refused('Coupon has expired');
  // 4
  if (!row.isAvailable) return refused('Coupon is not available for use');
  // 5
  const amount = decimal(orderAmount);
  const minOrder = positive(row.minOrder);
  if (minOrder !== undefined && compare(amount, minOrder) < 0) {
    return refused(`Minimum order amount is ${toNumber(minOrder)}`);
  }
  const { id, discountPercent, flatDiscount, maxValue } = row;
  // 6 and 7
  const discountAmount = toNumber(capped(discountOf(amount, row), positive(maxValue)));
  return { valid: true, discountAmount, coupon: { id, discountPercent, flatDiscount, maxValue } };
}

const refused = (message: string): Validation => ({ valid: false, message });

/** An amount that is set: null, and what is not above 0, counts as none (design 7). */
function positive(text: string | null): Decimal | undefined {
  const amount = text === null ? zero : decimal(text);
  return amount.units > 0n ? amount : undefined;
}

function discountOf(amount: Decimal, { discountPercent, flatDiscount }: ValidatedCoupon): Decimal {
  const percent = positive(discountPercent);
  if (percent !== undefined) return percentOf(amount, percent);
  return positive(flatDiscount) ?? zero;
}

function capped(discount: Decimal, maxValue: Decimal | undefined): Decimal {
  return maxValue !== undefined && compare(discount, maxValue) > 0 ? maxValue : discount;
}
