import { createClient } from '@connectrpc/connect';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CouponService, ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { addCouponOf, entriesOf, newOrder } from '../../support/redemptions.ts';
import { runService } from '../../support/running-service.ts';

// Amounts as whole numbers of this unit, which all products of amounts and percentages here are multiples of.
const unitDigits = 50;

/** The units of a decimal, or of the shortest one that stands for a double. */
function unitsOf(decimal: number | string): bigint {
  const [mantissa = '', exponent = '0'] = String(decimal).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(unitDigits - fraction.length + Number(exponent));
}

/** An amount: one of few digits, one of many, and a sum of prices, which may be off by the last bit of a double. */
const amount = fc.oneof(
  fc.integer({ min: 0, max: 500_000_000 }).map((hundredThousandths) => hundredThousandths / 100_000),
  fc.integer({ min: 0, max: 5_000 }),
  fc
    .array(fc.integer({ min: 1, max: 99_999 }), { maxLength: 4 })
    .map((prices) => prices.reduce((sum, cents) => sum + cents / 100, 0)),
  fc.double({ min: 1e-9, max: 1e6, noNaN: true }),
);
const terms = fc.record({
  percent: fc.option(fc.integer({ min: 1, max: 15_000_000 }).map((percent) => percent / 100_000)),
  flat: amount.filter((value) => value > 0),
  most: fc.option(amount),
  minimum: fc.option(amount, { freq: 1 }),
  isLimited: fc.boolean(),
});
const order = fc.record({
  orderAmount: amount,
  /** Lines of the coupon's product, and of another one. */
  lines: fc.array(fc.record({ isEligible: fc.boolean(), amount }), { maxLength: 5 }),
});

const least = (...amounts: readonly bigint[]) => amounts.reduce((left, right) => (left < right ? left : right));

/** The arithmetic of a currency with so many digits, in units. */
function arithmeticOf(digits: number | undefined) {
  const step = 10n ** BigInt(unitDigits - (digits ?? unitDigits));
  const rounded = (units: bigint) => ((units * 2n + step) / (step * 2n)) * step;
  return {
    /** The units of an amount of an order. */
    taken: (value: number) => rounded(unitsOf(value)),
    /** The discount that terms give on what it is computed of, at most `cap`. */
    discountOf(
      {
        percent,
        flat,
        most,
      }: Pick<typeof terms extends fc.Arbitrary<infer Terms> ? Terms : never, 'percent' | 'flat' | 'most'>,
      base: bigint,
      cap: bigint,
    ) {
      const largest = least(base, cap, most ? unitsOf(most) : base);
      const byTerms = percent === null ? unitsOf(flat) : (base * unitsOf(percent)) / (100n * 10n ** BigInt(unitDigits));
      const exact = least(byTerms, largest);
      return rounded(exact) > largest ? (exact / step) * step : rounded(exact);
    },
  };
}

const currencies = [
  ['JPY', 0],
  ['INR', 2],
  ['RSD', 2],
  ['KWD', 3],
  [undefined, undefined],
] as const;

describe.each(currencies)('The discounts of a business with the currency %s', (businessCurrency, digits) => {
  const service = runService('coupon', () => ({ businessCurrency }));
  const api = createClient(RedemptionService, service.guest);
  const { taken, discountOf } = arithmeticOf(digits);

  it('Redeem judges, gives and stores the amounts of an exact arithmetic, and Check says the same', async () => {
    await fc.assert(
      fc.asyncProperty(terms, order, async ({ isLimited, minimum, ...coupon }, { orderAmount, lines }) => {
        const eligible = lines.filter(({ isEligible }) => isEligible);
        fc.pre(!isLimited || eligible.length > 0);
        const { code } = await addCouponOf(service.sql, {
          discount_percent: coupon.percent,
          flat_discount: coupon.flat,
          ...(coupon.most !== null && { max_value: coupon.most }),
          ...(minimum !== null && { min_order: minimum }),
          ...(isLimited && { product_ids: [7] }),
        });
        const asked = {
          ...{ ...newOrder(), code, orderAmount },
          lines: lines.map((line) => ({ productId: line.isEligible ? 7 : 8, amount: line.amount })),
        };
        const { valid, refusal, discountAmount, redemption } = await api.redeem(asked);
        const checked = await api.check(asked);
        const paid = taken(orderAmount);
        const isBelow = minimum !== null && paid < taken(minimum);
        expect([valid, refusal]).toEqual([!isBelow, isBelow ? ValidationRefusal.BELOW_MINIMUM : undefined]);
        expect(checked.valid).toBe(valid);
        const base = isLimited ? eligible.reduce((sum, line) => sum + taken(line.amount), 0n) : paid;
        const expected = discountOf(coupon, base, paid);
        expect(checked.discountAmount).toBe(Number(`${expected}e-${unitDigits}`));
        if (isBelow) return;
        expect(discountAmount).toBe(checked.discountAmount);
        expect(unitsOf(redemption?.discountAmount ?? '')).toBe(expected);
        expect(unitsOf(redemption?.orderAmount ?? '')).toBe(paid);
      }),
      { numRuns: 150 },
    );
  });
});

describe('Amounts that floating point has made', () => {
  const service = runService('coupon', () => ({ businessCurrency: 'INR' }));
  const api = createClient(RedemptionService, service.guest);
  const sum = 2 * 27.99 + 2 * 2.99;

  it('An order whose sum is off by the last bit of a double meets the minimum that it shows, but for Validate', async () => {
    expect(sum).toBe(61.959999999999994);
    const { code } = await addCouponOf(service.sql, { min_order: 61.96 });
    expect(await api.check({ code, orderAmount: sum })).toMatchObject({ valid: true, discountAmount: 6.2 });
    const { redemption } = await api.redeem({ ...newOrder(), code, orderAmount: sum });
    expect(redemption).toMatchObject({ orderAmount: '61.96', discountAmount: '6.2' });
    const validated = await createClient(CouponService, service.guest).validate({ code, userId: 1, orderAmount: sum });
    expect(validated).toMatchObject({ valid: false, message: 'Minimum order amount is 61.96' });
  });

  it('An order meets a minimum that is off by the last bit of a double, as the same sum and as the amount that it shows', async () => {
    const { code } = await addCouponOf(service.sql, { min_order: 1.1 + 2.2 });
    for (const orderAmount of [1.1 + 2.2, 3.3])
      expect((await api.redeem({ ...newOrder(), code, orderAmount })).valid).toBe(true);
    expect(await api.redeem({ ...newOrder(), code, orderAmount: 3.29 })).toMatchObject({ valid: false });
  });

  it('What a redemption, its entry in the trail, the list and the usage tell are the same amounts', async () => {
    const { id: couponId, code } = await addCouponOf(service.sql);
    const { redemption } = await api.redeem({ ...newOrder(), code, orderAmount: 299.99999999999994, holdSeconds: 0 });
    const amounts = { orderAmount: '300', discountAmount: '30' };
    expect(redemption).toMatchObject(amounts);
    expect(await entriesOf({ transportAs: () => service.staff }, 'redemption', redemption?.id)).toMatchObject([
      { after: amounts },
    ]);
    const staff = createClient(RedemptionService, service.staff);
    expect((await staff.listRedemptions({ couponId })).redemptions).toMatchObject([amounts]);
    expect((await staff.getUsage({ couponIds: [couponId] })).usage).toMatchObject([{ discountUsed: '30' }]);
  });
});

describe('Lines that come to more than the order', () => {
  const service = runService('coupon');
  const api = createClient(RedemptionService, service.guest);

  it.each([
    [{ discount_percent: null, flat_discount: 500 }, [{ productId: 3, amount: 1_000 }], 500],
    [
      { discount_percent: 100 },
      [
        { productId: 3, amount: 80 },
        { productId: 3, amount: 80 },
      ],
      160,
    ],
  ])('Of %j and %j no more is given than the order costs, and Check says the same', async (columns, lines, ofLines) => {
    const { id, code } = await addCouponOf(service.sql, { ...columns, product_ids: [3] });
    expect((await api.check({ code, orderAmount: 100, lines })).discountAmount).toBe(100);
    expect((await api.check({ code, lines })).discountAmount).toBe(ofLines);
    const answer = await api.redeem({ ...newOrder(), code, orderAmount: 100, lines, holdSeconds: 0 });
    expect(answer).toMatchObject({ discountAmount: 100, redemption: { discountAmount: '100' } });
    const staff = createClient(RedemptionService, service.staff);
    expect((await staff.getUsage({ couponIds: [id] })).usage).toMatchObject([{ discountUsed: '100' }]);
  });
});
