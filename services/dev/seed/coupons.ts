import { hoursFrom, pick, spread, steps } from './deterministic.ts';
import { products } from './products.ts';

/** The fields in which the demo coupons differ; the others are unset. */
interface Terms {
  readonly percent?: string;
  readonly flat?: string;
  readonly min?: string;
  readonly cap?: string;
  readonly days?: number;
  readonly limit?: number;
  readonly users?: readonly number[];
  readonly products?: readonly number[];
  readonly exclusive?: true;
  readonly invalidated?: true;
}

const named: Record<string, Terms> = {
  WELCOME10: { percent: '10', cap: '150', limit: 1 },
  FLAT50: { flat: '50', min: '499' },
  FLAT100: { flat: '100', min: '999' },
  SAVE20: { percent: '20', min: '1000', cap: '500', days: 60 },
  WEEKEND15: { percent: '15', min: '750', cap: '200', days: 30 },
  MONSOON25: { percent: '25', cap: '250', days: -45 },
  DIWALI30: { percent: '30', min: '1500', cap: '600', days: -10 },
  HOLI12: { percent: '12.5', cap: '125', days: 120 },
  FREEDOM76: { flat: '76', min: '760', days: 270 },
  FRUITFEST: { percent: '18', cap: '180', products: [10, 11, 12, 13, 14], days: 20 },
  DAIRY5: { percent: '5', products: [18, 19, 20, 21, 22, 23] },
  ATTA40: { flat: '40', min: '300', products: [29, 30] },
  TEATIME: { flat: '25.50', products: [49, 50, 51], days: 14 },
  SNACKATTACK: { percent: '8', products: [56, 57, 58, 59], cap: '80' },
  BIGBASKET500: { flat: '500', min: '5000', limit: 1, exclusive: true },
  NEIGHBOUR75: { flat: '75', min: '600', limit: 2 },
  OLDSTOCK: { percent: '50', cap: '100', invalidated: true },
  TESTFREE: { percent: '100', invalidated: true },
  STAFFMEAL: { flat: '120', users: [3, 8, 21, 34] },
  GOLDCLUB: { percent: '15', cap: '750', users: [1, 5, 12, 40, 77, 101], limit: 4 },
  COMEBACK: { flat: '150', min: '800', users: [60, 61, 62], days: 45, limit: 1 },
  SORRY100: { flat: '100', users: [90], days: 25, limit: 1 },
  REFERRAL50: { flat: '50', users: [14, 15, 16, 17, 18], days: 90 },
  FIRSTAPP: { percent: '22', min: '350', cap: '175', limit: 1, exclusive: true },
};

/** Forty coupons: named ones first, then those that staff gave to single customers by phone. */
const couponTerms: readonly (readonly [code: string, terms: Terms])[] = [
  ...Object.entries(named),
  ...steps(16).map((index): [string, Terms] => [
    `DC${String(4021 + index * 517).padStart(4, '0')}${String(118_304 + index * 47_219)}${pick(['K7QX', 'M2ZP', 'R9TB'], index)}`,
    { percent: '20', min: '1000', cap: '500', days: 90 - index * 8, limit: 1, users: [100 + index * 5] },
  ]),
];

/** Returns the rows of the coupons. */
export function makeCoupons(now: Date) {
  return couponTerms.map(([code, terms], index) => ({
    id: index + 1,
    coupon_code: code,
    is_user_based: terms.users !== undefined,
    ...amountsOf(terms),
    product_ids: terms.products ?? null,
    is_apply_for_all: terms.users === undefined,
    valid_till: terms.days === undefined ? null : hoursFrom(now, terms.days * 24),
    max_limit_for_user: terms.limit ?? null,
    exclusive_apply: terms.exclusive ?? false,
    is_invalidated: terms.invalidated ?? false,
    created_by: (index % 8) + 1,
    created_at: hoursFrom(now, (index - couponTerms.length) * 31 - 0.5),
  }));
}

/** Returns the links of coupons to their users. */
export function makeCouponUsers() {
  return couponTerms
    .flatMap(([, terms], index) => (terms.users ?? []).map((user) => ({ coupon_id: index + 1, user_id: user })))
    .map((link, index) => ({ id: index + 1, ...link }));
}

/** Returns the links of coupons to their products. */
export function makeCouponProducts() {
  return couponTerms
    .flatMap(([, terms], index) => (terms.products ?? []).map((id) => ({ coupon_id: index + 1, product_id: id })))
    .map((link, index) => ({ id: index + 1, ...link }));
}

/** Returns reserved coupons, whose secret codes are on printed cards. A third of them are redeemed. */
export function makeReservedCoupons(now: Date) {
  return steps(15).map((index) => ({
    id: index + 1,
    secret_code: `SECRET${String(207_113 + index * 51_377)}${pick(['A4XN7Q', 'P9KD2M', 'T3WZ8R'], index)}`,
    coupon_code: `RESERVED${String(300_211 + index * 40_009)}`,
    ...amountsOf(index % 2 === 0 ? { flat: String(50 + index * 25), min: '500' } : { percent: '15', cap: '300' }),
    product_ids: index % 5 === 3 ? spread(index, 4, products.length) : null,
    valid_till: hoursFrom(now, (index - 2) * 24 * 12),
    max_limit_for_user: 1,
    exclusive_apply: index % 4 === 0,
    redeemed_by: index % 3 === 1 ? index * 9 + 1 : null,
    created_by: (index % 4) + 1,
    created_at: hoursFrom(now, (index - 16) * 53),
  }));
}

function amountsOf({ percent, flat, min, cap }: Terms) {
  return {
    discount_percent: percent ?? null,
    flat_discount: flat ?? null,
    min_order: min ?? null,
    max_value: cap ?? null,
  };
}
