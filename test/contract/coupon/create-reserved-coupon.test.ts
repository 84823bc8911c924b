import { expect, it } from 'vitest';
import { couponContract, expectError, expectInvalidField, failureOf } from '../../support/contract.ts';

couponContract('CreateReservedCoupon', (api) => {
  // That it has every other field is what carried-fields.test.ts says.
  it('A reserved coupon stores its terms and links, and ignores the fields that only coupons have', async () => {
    const { reservedCoupon } = await api.staff.createReservedCoupon({
      coupon: {
        ...{ couponCode: 'SECRET-ONE', isUserBased: true, isApplyForAll: true, targetUser: 4, discountPercent: 12.5 },
        ...{ productIds: { ids: [] }, applicableUsers: { ids: [999] }, applicableProducts: { ids: [5, 4, 4] } },
      },
    });
    expect(reservedCoupon).toMatchObject({
      ...{ secretCode: 'SECRET-ONE', couponCode: 'SECRET-ONE', discountPercent: '12.5', createdBy: 1 },
      productIds: { ids: [] },
    });
    const links = 'select product_id from reserved_coupon_applicable_products where reserved_coupon_id = $1 order by 1';
    expect(await api.sql(links, [reservedCoupon?.id])).toEqual([{ product_id: 4 }, { product_id: 5 }]);
    expect(await api.sql(`select 1 from coupons where coupon_code = 'SECRET-ONE'`)).toEqual([]);
  });

  it.each([{}, { couponCode: '' }])('Rules 3 and 4: without a code, both codes are generated', async (code) => {
    const { reservedCoupon } = await api.staff.createReservedCoupon({ coupon: { flatDiscount: 5, ...code } });
    expect(reservedCoupon?.secretCode).toMatch(/^SECRET\d{6}[B-DF-HJ-NP-TV-Z0-9]{6}$/);
    expect(reservedCoupon?.couponCode).toMatch(/^RESERVED\d{6}$/);
    expect(reservedCoupon).toMatchObject({ exclusiveApply: false });
    expect(reservedCoupon?.productIds).toBeUndefined();
    expect(reservedCoupon?.validTill).toBeUndefined();
  });

  it.each([{}, { discountPercent: 10, flatDiscount: 5 }, { discountPercent: 0 }])(
    'Rule 1: anything but exactly one discount is refused before a missing staff identity',
    async (coupon) => {
      await expectError(api.guest.createReservedCoupon({ coupon }), 'ONE_DISCOUNT_REQUIRED');
    },
  );

  it('Rule 2: a caller without a staff identity is refused before the code is checked', async () => {
    await api.staff.createReservedCoupon({ coupon: { flatDiscount: 5, couponCode: 'SECRET-TWO' } });
    await expectError(
      api.guest.createReservedCoupon({ coupon: { flatDiscount: 5, couponCode: 'SECRET-TWO' } }),
      'UNAUTHORIZED',
    );
  });

  it('Rule 3: a secret code that exists is refused, also when calls race; a coupon may have the same code', async () => {
    await api.staff.create({ coupon: { flatDiscount: 5, couponCode: 'SHARED' } });
    const coupon = { flatDiscount: 5, couponCode: 'SHARED' };
    const calls = await Promise.allSettled(Array.from({ length: 8 }, () => api.staff.createReservedCoupon({ coupon })));
    expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const lost = calls.find((call) => call.status === 'rejected');
    await expectError(Promise.reject(lost?.reason), 'SECRET_CODE_TAKEN');
    const products = { applicableProducts: { ids: [999] } };
    const late = await failureOf(api.staff.createReservedCoupon({ coupon: { ...coupon, ...products } }));
    expect(late.rawMessage).toBe('Secret code already exists');
  });

  it('The types of the fields are checked before the rules', async () => {
    await expectInvalidField(api.staff.createReservedCoupon({ coupon: { validTill: 'x' } }), 'coupon.valid_till');
    await expectInvalidField(api.staff.createReservedCoupon({ coupon: { maxValue: -1 } }), 'coupon.max_value');
  });
});
