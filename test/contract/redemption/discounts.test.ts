import { createClient } from '@connectrpc/connect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { addCouponOf, newOrder } from '../../support/redemptions.ts';
import { runService } from '../../support/running-service.ts';

// Amounts as whole numbers of this unit, which all products of amounts and percentages here are multiples of.
const unitDigits = 12;
const toUnits = (hundredThousandths: number) => BigInt(hundredThousandths) * 10n ** BigInt(unitDigits - 5);

/** An amount, in hundred thousandths: one of few digits or of many. */
const amount = fc.oneof(
  fc.integer({ min: 0, max: 500_000_000 }),
  fc.integer({ min: 0, max: 5_000 }).map((whole) => whole * 100_000),
);
const terms = fc.record({
  percent: fc.option(fc.integer({ min: 1, max: 15_000_000 })),
  flat: amount.filter((value) => value > 0),
  most: fc.option(amount),
  isLimited: fc.boolean(),
});
const order = fc.record({
  orderAmount: amount,
  /** Lines of the coupon's product, and of another one. */
  lines: fc.array(fc.record({ isEligible: fc.boolean(), amount }), { maxLength: 5 }),
});

const least = (...amounts: readonly bigint[]) => amounts.reduce((left, right) => (left < right ? left : right));

/** The discount in units, by the words of design 16. */
function expectedDiscount(
  { percent, flat, most, isLimited }: typeof terms extends fc.Arbitrary<infer Terms> ? Terms : never,
  { orderAmount, lines }: typeof order extends fc.Arbitrary<infer Order> ? Order : never,
  digits: number | undefined,
): bigint {
  const eligible = lines.filter(({ isEligible }) => isEligible).reduce((sum, line) => sum + line.amount, 0);
  const base = toUnits(isLimited ? eligible : orderAmount);
  const largest = most === null || most === 0 ? base : least(base, toUnits(most));
  const exact = least(percent === null ? toUnits(flat) : (base * BigInt(percent)) / 10_000_000n, largest);
  if (digits === undefined) return exact;
  const step = 10n ** BigInt(unitDigits - digits);
  const below = (exact / step) * step;
  const isNearerAbove = (exact - below) * 2n >= step && below + step <= largest;
  return exact === below || !isNearerAbove ? below : below + step;
}

const plain = (hundredThousandths: number) => hundredThousandths / 100_000;

describe.each([
  ['JPY', 0],
  ['INR', 2],
  ['KWD', 3],
  [undefined, undefined],
])('The discounts of a business with the currency %s', (businessCurrency, digits) => {
  const service = runService('coupon', () => ({ businessCurrency }));
  const api = createClient(RedemptionService, service.guest);

  it('Redeem gives, and stores, the discount of an exact arithmetic, and Check says the same', async () => {
    await fc.assert(
      fc.asyncProperty(terms, order, async (coupon, { orderAmount, lines }) => {
        fc.pre(!coupon.isLimited || lines.some(({ isEligible }) => isEligible));
        const { code } = await addCouponOf(service.sql, {
          discount_percent: coupon.percent === null ? null : plain(coupon.percent),
          flat_discount: plain(coupon.flat),
          ...(coupon.most !== null && { max_value: plain(coupon.most) }),
          ...(coupon.isLimited && { product_ids: [7] }),
        });
        const asked = {
          ...{ ...newOrder(), code, orderAmount: plain(orderAmount) },
          lines: lines.map((line) => ({ productId: line.isEligible ? 7 : 8, amount: plain(line.amount) })),
        };
        const { discountAmount, redemption } = await api.redeem(asked);
        const expected = expectedDiscount(coupon, { orderAmount, lines }, digits);
        const text = `${expected}e-${unitDigits}`;
        expect(discountAmount).toBe(Number(text));
        expect(unitsOf(redemption?.discountAmount ?? '')).toBe(expected);
        expect((await api.check(asked)).discountAmount).toBe(discountAmount);
      }),
      { numRuns: 150 },
    );
  });
});

/** A decimal of PostgreSQL in units. */
function unitsOf(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(unitDigits, '0'));
}
