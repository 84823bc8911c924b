import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectError, redemptionContract } from '../../support/contract.ts';
import { newName } from '../../support/mutations.ts';
import { entriesOf } from '../../support/redemptions.ts';

redemptionContract('Claim', (api) => {
  /** Adds a reserved coupon for the products 3 and 1. */
  async function reserve(given: { couponCode?: string; secretCode?: string; validTill?: string } = {}) {
    const code = newName('SECRET');
    const { couponCode = `${code}-gift`, secretCode = code, validTill = '2090-01-01Z' } = given;
    const [row] = await api.sql<{ id: number }>(
      `with reserved as (
         insert into reserved_coupons (
           secret_code, coupon_code, discount_percent, min_order, max_value, product_ids, valid_till, max_limit_for_user,
           exclusive_apply, created_by
         )
         values ($1, $2, 12.50, 100, 50, '{5,6}', $3, 3, true, 2)
         returning id
       ),
       linked as (
         insert into reserved_coupon_applicable_products (reserved_coupon_id, product_id)
         select id, product from reserved, unnest('{3,1}'::integer[]) as product
       )
       select id from reserved`,
      [secretCode, couponCode, validTill],
    );
    if (row === undefined) throw new Error('no reserved coupon was added');
    return { id: row.id, secretCode, couponCode };
  }
  const claim = (secretCode: string, userId = 1) => api.guest.claim({ secretCode, userId });

  it("A secret code becomes the user's own coupon, which Validate and Redeem find", async () => {
    const reserved = await reserve();
    const { coupon, reservedCoupon } = await claim(reserved.secretCode.toLowerCase());
    expect(coupon).toMatchObject({
      ...{
        ...{ couponCode: reserved.couponCode.toUpperCase(), isUserBased: true, isApplyForAll: false },
        isInvalidated: false,
      },
      ...{ discountPercent: '12.50', minOrder: '100', maxValue: '50', productIds: { ids: [5, 6] } },
      ...{ maxLimitForUser: 3, exclusiveApply: true, createdBy: 2 },
    });
    expect(reservedCoupon).toMatchObject({
      ...{ id: reserved.id, secretCode: reserved.secretCode, creator: { id: 2, name: 'Ravi Iyer' } },
      ...{ redeemedUser: { id: 1, mobile: '9000000001' }, productIdsCount: 2, productIds: { ids: [5, 6] } },
    });
    const coupons = createClient(CouponService, api.transportAs('staff'));
    const { coupon: detail } = await coupons.getById({ id: coupon?.id });
    expect(detail?.applicableUsers.map(({ id }) => id)).toEqual([1]);
    expect(detail?.applicableProducts.map(({ id }) => id)).toEqual([1, 3]);
    const code = reserved.couponCode;
    expect((await coupons.validate({ code, orderAmount: 200 })).valid).toBe(true);
    const order = { orderKey: newName('order'), orderAmount: 200, productIds: [3] };
    expect((await api.guest.redeem({ code, ...order, userId: 1 })).valid).toBe(true);
    expect((await api.guest.redeem({ code, ...order, orderKey: newName('order'), userId: 2 })).valid).toBe(false);
    expect(await entriesOf(api, 'reserved_coupon', reserved.id)).toEqual([
      { procedure: 'coupon.v1.RedemptionService/Claim', before: {}, after: { redeemedUser: 1 } },
    ]);
    expect(await entriesOf(api, 'coupon', coupon?.id)).toMatchObject([
      {
        before: undefined,
        after: { couponCode: coupon?.couponCode, applicableUsers: [1], applicableProducts: [1, 3], productIds: [5, 6] },
      },
    ]);
  });

  it('The same user gets the same coupon again, whatever became of it, and nothing is written', async () => {
    const { id, secretCode } = await reserve();
    const first = await claim(secretCode);
    await api.sql('update coupons set is_invalidated = true where id = $1', [first.coupon?.id]);
    await api.sql(`update reserved_coupons set valid_till = '2020-01-01Z' where id = $1`, [id]);
    const again = await claim(secretCode);
    expect(again.coupon).toMatchObject({ id: first.coupon?.id, isInvalidated: true });
    expect(again.reservedCoupon?.redeemedUser?.id).toBe(1);
    expect(await entriesOf(api, 'reserved_coupon', id)).toHaveLength(1);
  });

  it('A code that a coupon has already gets four more characters', async () => {
    const couponCode = newName('TWICE');
    const [one, two] = [await reserve({ couponCode }), await reserve({ couponCode })];
    expect((await claim(one.secretCode)).coupon?.couponCode).toBe(couponCode);
    expect((await claim(two.secretCode)).coupon?.couponCode).toMatch(
      new RegExp(`^${couponCode}-[B-DF-HJKMNP-TV-Z2-9]{4}$`),
    );
  });

  it.each([
    ['x'.repeat(128), 'X'.repeat(128)],
    ['ß'.repeat(100), 'S'.repeat(128)],
  ])('A code that upper case or more characters make too long is cut: %s', async (couponCode, expected) => {
    await api.sql('delete from coupons where coupon_code = $1', [expected]);
    const [one, two] = [await reserve({ couponCode }), await reserve({ couponCode })];
    expect((await claim(one.secretCode)).coupon?.couponCode).toBe(expected);
    expect((await claim(two.secretCode)).coupon?.couponCode).toMatch(new RegExp(`^${expected.slice(5)}-[A-Z2-9]{4}$`));
  });

  it('The code as it is stored comes before the code in upper case', async () => {
    const upper = newName('STORED');
    const [exact, shouted] = [await reserve({ secretCode: upper.toLowerCase() }), await reserve({ secretCode: upper })];
    expect((await claim(upper.toLowerCase())).reservedCoupon?.id).toBe(exact.id);
    expect((await claim(upper, 2)).reservedCoupon?.id).toBe(shouted.id);
  });

  it('Another user is refused, also after the code has expired', async () => {
    const { id, secretCode } = await reserve();
    await claim(secretCode);
    await api.sql(`update reserved_coupons set valid_till = '2020-01-01Z' where id = $1`, [id]);
    await expectError(claim(secretCode, 2), 'SECRET_CODE_CLAIMED');
  });

  it('An unknown user is told before an unknown code', async () => {
    await expectError(claim('NO-SUCH-SECRET', 999), 'USER_NOT_FOUND');
    await expectError(claim('NO-SUCH-SECRET'), 'SECRET_CODE_NOT_FOUND');
  });

  it('Of many users at once exactly one gets the coupon', async () => {
    const { secretCode } = await reserve();
    const claims = [1, 2, 3, 4, 5, 1, 2, 3].map((userId) => claim(secretCode, userId));
    const settled = await Promise.allSettled(claims);
    const coupons = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.coupon?.id] : []));
    const users = settled.flatMap((each) =>
      each.status === 'fulfilled' ? [each.value.reservedCoupon?.redeemedUser?.id] : [],
    );
    expect(new Set(coupons).size).toBe(1);
    expect(new Set(users).size).toBe(1);
  });
});
