import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateCoupon } from '../../services/coupon-service/validation.ts';
import type { Queryable } from '../../shared/db/database.ts';

/** A coupon that the statement of validate finds, or nothing. */
interface Found {
  readonly discountPercent: string | null;
  readonly flatDiscount: string | null;
  readonly minOrder: string | null;
  readonly maxValue: string | null;
  readonly isExpired: boolean;
  readonly isAvailable: boolean;
}

/** Answers every statement with the coupon: what is tested is the arithmetic, not the database. */
const holding = (found: Found | undefined): Queryable => ({
  query: async <Row>() => (found === undefined ? [] : [{ id: 1, ...found } as Row]),
});

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
const coupon: fc.Arbitrary<Found> = fc.record({
  discountPercent: optionalAmount,
  flatDiscount: optionalAmount,
  minOrder: optionalAmount,
  maxValue: optionalAmount,
  isExpired: fc.boolean(),
  isAvailable: fc.boolean(),
});
const usable = coupon.map((found) => ({ ...found, minOrder: null, isExpired: false, isAvailable: true }));

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

describe('validateCoupon', () => {
  it('writes decimals for these tests as PostgreSQL does', () => {
    expect([0.1, 12.5, 1e-7, 1e21, 0, 999999.99].map(plainDecimal)).toEqual([
      ...['0.1', '12.5', '0.0000001', '1000000000000000000000', '0', '999999.99'],
    ]);
  });

  it('never throws, and a failed check is false with a message', async () => {
    await fc.assert(
      fc.asyncProperty(fc.option(coupon), fc.string(), orderAmount, async (found, code, order) => {
        const result = await validateCoupon(holding(found ?? undefined), code, order);
        if (result.valid) expect(Number.isFinite(result.discountAmount)).toBe(true);
        else expect(result.message).not.toBe('');
        const passes =
          code !== '' &&
          found !== null &&
          !found.isExpired &&
          found.isAvailable &&
          !(Number(found.minOrder) > 0 && order < Number(found.minOrder));
        expect(result.valid).toBe(passes);
      }),
      { numRuns: 2000 },
    );
  });

  it('never gives more than a positive max_value', async () => {
    await fc.assert(
      fc.asyncProperty(usable, amount, orderAmount, async (found, maxValue, order) => {
        fc.pre(Number(maxValue) > 0);
        const result = await validateCoupon(holding({ ...found, maxValue }), 'X', order);
        expect(result.valid && result.discountAmount).toBeLessThanOrEqual(Number(maxValue));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives the exact discount of cents and hundredths of a percent', async () => {
    const hundredths = fc.integer({ min: 1, max: 1_000_000 });
    await fc.assert(
      fc.asyncProperty(hundredths, hundredths, async (cents, percent) => {
        const found = { discountPercent: `${percent / 100}`, flatDiscount: null, minOrder: null, maxValue: null };
        const db = holding({ ...found, isExpired: false, isAvailable: true });
        const result = await validateCoupon(db, 'X', cents / 100);
        expect(result.valid && result.discountAmount).toBe(Number(`${BigInt(cents) * BigInt(percent)}e-6`));
      }),
      { numRuns: 2000 },
    );
  });

  it('grows with the order', async () => {
    await fc.assert(
      fc.asyncProperty(usable, orderAmount, orderAmount, async (found, one, other) => {
        const discount = async (order: number) => {
          const result = await validateCoupon(holding(found), 'X', order);
          return result.valid ? result.discountAmount : Number.NaN;
        };
        const [less, more] = [Math.min(one, other), Math.max(one, other)];
        expect(await discount(less)).toBeLessThanOrEqual(await discount(more));
      }),
    );
  });
});
