import { beforeAll, describe, expect, it } from 'vitest';
import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { couponContract, expectInvalidField } from '../../support/contract.ts';

/** The columns of a coupon, which is for all users unless they say otherwise. */
interface Stored {
  discount_percent?: string;
  flat_discount?: string;
  min_order?: string;
  max_value?: string;
  valid_till?: string;
  is_apply_for_all?: boolean;
  is_user_based?: boolean;
  is_invalidated?: boolean;
}

const discounts: [what: string, coupon: Stored, orderAmount: number, discount: number][] = [
  ['a percentage', { discount_percent: '10' }, 200, 20],
  ['a percentage with decimals', { discount_percent: '12.5' }, 80, 10],
  ['an exact product', { discount_percent: '15' }, 999.9, 149.985],
  ['an exact sum of cents', { discount_percent: '10' }, 0.3, 0.03],
  ['an exact product of fractions', { discount_percent: '0.7' }, 1.1, 0.0077],
  ['a third decimal place', { discount_percent: '33.33' }, 100.1, 33.36333],
  ['100 percent', { discount_percent: '100' }, 1e15, 1e15],
  ['150 percent', { discount_percent: '150' }, 100, 150],
  ['a flat amount', { flat_discount: '50' }, 200, 50],
  ['a flat amount above the order', { flat_discount: '50' }, 20, 50],
  [
    'a percentage beside a flat amount, where the percentage counts',
    { discount_percent: '10', flat_discount: '50' },
    200,
    20,
  ],
  [
    '0 percent beside a flat amount, where the flat amount counts',
    { discount_percent: '0', flat_discount: '50' },
    200,
    50,
  ],
  ['a coupon without a discount', {}, 200, 0],
  ['two discounts of 0', { discount_percent: '0', flat_discount: '0' }, 200, 0],
  ['a percentage above the cap', { discount_percent: '50', max_value: '75.5' }, 200, 75.5],
  ['a flat amount above the cap', { flat_discount: '50', max_value: '20' }, 200, 20],
  ['a discount that equals the cap', { discount_percent: '10', max_value: '20' }, 200, 20],
  ['a discount a hair above the cap', { discount_percent: '10', max_value: '20' }, 200.00000000000003, 20],
  ['a cap of 0, which is none', { discount_percent: '10', max_value: '0' }, 200, 20],
  ['an order of the minimum', { flat_discount: '5', min_order: '100' }, 100, 5],
  ['a minimum of 0, which is none', { flat_discount: '5', min_order: '0' }, 0, 5],
  ['an order of 0', { discount_percent: '10' }, 0, 0],
  ['a negative order', { discount_percent: '10' }, -200, -20],
  ['a negative order under a cap', { discount_percent: '10', max_value: '5' }, -200, -20],
  ['a date in the future', { flat_discount: '5', valid_till: '2999-01-01' }, 10, 5],
  ['a user-based coupon and any user', { flat_discount: '5', is_apply_for_all: false, is_user_based: true }, 10, 5],
  ['the smallest double', { discount_percent: '100' }, 5e-324, 5e-324],
  ['a discount below the smallest double', { discount_percent: '1' }, 5e-324, 0],
  ['the largest double', { discount_percent: '100' }, Number.MAX_VALUE, Number.MAX_VALUE],
  ['a discount above the largest double', { discount_percent: '200' }, 1e308, Number.MAX_VALUE],
  ['a discount below the largest negative double', { discount_percent: '200' }, -1e308, -Number.MAX_VALUE],
];

const { EXPIRED, NOT_AVAILABLE, NOT_FOUND, BELOW_MINIMUM, CODE_EMPTY } = ValidationRefusal;
const messages = {
  [NOT_FOUND]: 'Coupon not found or invalidated',
  [EXPIRED]: 'Coupon has expired',
  [NOT_AVAILABLE]: 'Coupon is not available for use',
};
const errors: [what: string, coupon: Stored, orderAmount: number, refusal: keyof typeof messages | string][] = [
  ['an invalidated coupon', { is_invalidated: true }, 10, NOT_FOUND],
  ['an expired coupon', { valid_till: '2020-01-01' }, 10, EXPIRED],
  ['a coupon for nobody', { is_apply_for_all: false }, 10, NOT_AVAILABLE],
  ['a small order', { min_order: '100' }, 99.99, 'Minimum order amount is 100'],
  ['an order a hair too small', { min_order: '0.3' }, 0.29999999999999993, 'Minimum order amount is 0.3'],
  ['a negative order', { min_order: '0.01' }, -1, 'Minimum order amount is 0.01'],
  ['a small order, minimum 12.50', { min_order: '12.50' }, 1, 'Minimum order amount is 12.5'],
  ['a small order, minimum 1e21', { min_order: '1e21' }, 1, 'Minimum order amount is 1e+21'],
  ['a small order, minimum 1e-7', { min_order: '1e-7' }, 0, 'Minimum order amount is 1e-7'],
  ['an invalidated and expired coupon', { is_invalidated: true, valid_till: '2020-01-01' }, 10, NOT_FOUND],
  ['an expired coupon for nobody', { valid_till: '2020-01-01', is_apply_for_all: false }, 10, EXPIRED],
  ['a coupon for nobody, and a small order', { is_apply_for_all: false, min_order: '100' }, 10, NOT_AVAILABLE],
];

couponContract('Validate', (api) => {
  const store = async (code: string, coupon: Stored) => {
    const row = { is_apply_for_all: true, ...coupon };
    const columns = Object.keys(row);
    const places = columns.map((_, index) => `$${index + 2}`);
    await api.sql(`insert into coupons (coupon_code, created_by, ${columns}) values ($1, 1, ${places})`, [
      code,
      ...Object.values(row),
    ]);
  };

  describe('A coupon that is valid', () => {
    beforeAll(async () => {
      for (const [index, [, coupon]] of discounts.entries()) await store(`GIVES-${index}`, coupon);
    });

    it.each(discounts.map((row, index) => [...row, index] as const))(
      'The discount is exact for %s: %j',
      async (_what, coupon, orderAmount, discount, index) => {
        const result = await api.guest.validate({ code: `GIVES-${index}`, userId: 1, orderAmount });
        expect(result).toMatchObject({ valid: true, discountAmount: discount });
        expect(Object.is(result.discountAmount, -0)).toBe(false);
        const { message, refusal, minOrder } = result;
        expect([message, refusal, minOrder]).toEqual([undefined, undefined, undefined]);
        expect(result.coupon?.discountPercent).toBe(coupon.discount_percent);
        expect(result.coupon?.flatDiscount).toBe(coupon.flat_discount);
        expect(result.coupon?.maxValue).toBe(coupon.max_value);
        const [stored] = await api.sql('select id from coupons where coupon_code = $1', [`GIVES-${index}`]);
        expect(result.coupon?.id).toBe(stored?.id);
      },
    );
  });

  describe('A coupon that is not valid', () => {
    beforeAll(async () => {
      for (const [index, [, coupon]] of errors.entries()) {
        await store(`REFUSES-${index}`, { flat_discount: '5', ...coupon });
      }
    });

    it.each(errors.map((row, index) => [...row, index] as const))(
      'Validation fails for %s: %j',
      async (_what, coupon, orderAmount, expected, index) => {
        const result = await api.guest.validate({ code: `REFUSES-${index}`, orderAmount });
        const isSmall = typeof expected === 'string';
        const [message, refusal] = isSmall ? [expected, BELOW_MINIMUM] : [messages[expected], expected];
        expect(result).toMatchObject({ valid: false, message, refusal });
        if (isSmall && coupon.min_order === '12.50') expect(result.minOrder).toBe('12.50');
        if (!isSmall) expect(result.minOrder).toBeUndefined();
        expect(result.discountAmount).toBeUndefined();
        expect(result.coupon).toBeUndefined();
      },
    );
  });

  it('An empty code is refused before it is looked up', async () => {
    await store('', { flat_discount: '5' });
    expect(await api.guest.validate({})).toMatchObject({
      ...{ valid: false, message: 'Invalid coupon code', refusal: CODE_EMPTY },
    });
    expect(await api.guest.validate({ code: ' ' })).toMatchObject({ message: 'Coupon not found or invalidated' });
  });

  it('The given code is upper-cased, and the stored code is not', async () => {
    await store('UPPER-ÇÉ', { flat_discount: '5' });
    await store('lower', { flat_discount: '5' });
    await store('STRASSE', { flat_discount: '5' });
    for (const code of ['UPPER-ÇÉ', 'upper-çé', 'straße']) {
      expect(await api.guest.validate({ code, orderAmount: 1 }), code).toMatchObject({ valid: true });
    }
    for (const code of ['lower', 'LOWER', 'UPPER-ÇÉ ', 'UPPER']) {
      const result = await api.guest.validate({ code, orderAmount: 1 });
      expect(result, code).toMatchObject({ valid: false, message: 'Coupon not found or invalidated' });
    }
  });

  it('A coupon whose invalidation was taken back validates again', async () => {
    const { coupon } = await api.staff.create({ coupon: { flatDiscount: 5, couponCode: 'BACK', isApplyForAll: true } });
    const id = coupon?.id ?? 0;
    await api.staff.delete({ id });
    expect(await api.guest.validate({ code: 'back' })).toMatchObject({ valid: false });
    await api.staff.update({ id, updates: { isInvalidated: false } });
    expect(await api.guest.validate({ code: 'back' })).toMatchObject({ valid: true, discountAmount: 5 });
  });

  it('Without VALIDATE_MISSES_PER_MINUTE, misses have no limit and are not counted', async () => {
    const messages = Array.from(
      { length: 30 },
      async (_, n) => (await api.guest.validate({ code: `NONE-${n}` })).message,
    );
    expect(new Set(await Promise.all(messages))).toEqual(new Set(['Coupon not found or invalidated']));
    expect(await api.sql('select from validate_misses')).toEqual([]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
    'An order amount of %d is refused',
    async (orderAmount) => {
      await expectInvalidField(api.staff.validate({ code: 'X', orderAmount }), 'order_amount');
    },
  );

  it.each(['x'.repeat(129), 'a\0'])('A code that is too long or contains NUL is refused', async (code) => {
    await expectInvalidField(api.staff.validate({ code }), 'code');
  });
});
