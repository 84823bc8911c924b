import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JudgedCoupon } from '../../services/coupon-service/coupons/judgement.ts';
import { toAnswer } from '../../services/coupon-service/procedures/validate.ts';

/** What a numeric column holds of a double; PostgreSQL writes no exponents. */
const amount = fc
  .oneof(
    fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
    fc.double({ min: 0, max: 2000, noNaN: true }),
    fc.integer({ min: 0, max: 200_000 }).map((cents) => cents / 100),
  )
  .map(plainDecimal);
const optionalAmount = fc.option(amount);
const orderAmount = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: -10, max: 3000, noNaN: true }),
  fc.integer({ min: 0, max: 300_000 }).map((cents) => cents / 100),
);
const coupon: fc.Arbitrary<JudgedCoupon> = fc.record({
  id: fc.constant(1),
  discountPercent: optionalAmount,
  flatDiscount: optionalAmount,
  minOrder: optionalAmount,
  maxValue: optionalAmount,
  isExpired: fc.boolean(),
  isNotStarted: fc.boolean(),
  isNotAvailable: fc.boolean(),
});
const isUsable = { isExpired: false, isNotStarted: false, isNotAvailable: false };
const usable = coupon.map((found) => ({ ...found, ...isUsable, minOrder: null }));

function plainDecimal(value: number): string {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const point = whole.length + Number(exponent);
  const digits = `${whole}${fraction}`.padStart(whole.length + fraction.length + Math.max(0, 1 - point), '0');
  const at = point + Math.max(0, 1 - point);
  const padded = digits.padEnd(at, '0');
  const rest = padded.slice(at);
  return rest === '' ? padded.slice(0, at) : `${padded.slice(0, at)}.${rest}`;
}

describe('The arithmetic of Validate', () => {
  it('The decimals of these tests are written as PostgreSQL writes them', () => {
    expect([0.1, 12.5, 1e-7, 1e21, 0, 999999.99].map(plainDecimal)).toEqual([
      ...['0.1', '12.5', '0.0000001', '1000000000000000000000', '0', '999999.99'],
    ]);
  });

  it('Validate never throws, and a check that fails is false with a message', () => {
    fc.assert(
      fc.property(fc.option(coupon), orderAmount, (found, order) => {
        const result = toAnswer('CODE', found ?? undefined, order);
        if ('discountAmount' in result) expect(Number.isFinite(result.discountAmount)).toBe(true);
        else expect(result.message).not.toBe('');
        const passes =
          found !== null &&
          !found.isExpired &&
          !found.isNotStarted &&
          !found.isNotAvailable &&
          !(Number(found.minOrder) > 0 && order < Number(found.minOrder));
        expect(result.valid).toBe(passes);
      }),
      { numRuns: 2000 },
    );
  });

  it('Validate never gives more than a positive max_value', () => {
    fc.assert(
      fc.property(usable, amount, orderAmount, (found, maxValue, order) => {
        fc.pre(Number(maxValue) > 0);
        expect(discountOf({ ...found, maxValue }, order)).toBeLessThanOrEqual(Number(maxValue));
      }),
      { numRuns: 2000 },
    );
  });

  it('Validate gives the exact discount of cents and hundredths of a percent', () => {
    const hundredths = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(hundredths, hundredths, (cents, percent) => {
        const terms = { discountPercent: `${percent / 100}`, flatDiscount: null, minOrder: null, maxValue: null };
        const found = { ...terms, ...isUsable, id: 1 };
        expect(discountOf(found, cents / 100)).toBe(Number(`${BigInt(cents) * BigInt(percent)}e-6`));
      }),
      { numRuns: 2000 },
    );
  });

  it('The discount grows with the order', () => {
    fc.assert(
      fc.property(usable, orderAmount, orderAmount, (found, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        expect(discountOf(found, less)).toBeLessThanOrEqual(discountOf(found, more));
      }),
    );
  });
});

/** The discount of a coupon that can be used; NaN of one that can't. */
function discountOf(coupon: JudgedCoupon, order: number): number {
  const result = toAnswer('CODE', coupon, order);
  return 'discountAmount' in result ? result.discountAmount : Number.NaN;
}
