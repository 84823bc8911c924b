import { expect, it } from 'vitest';
import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type CheckResponse, ConditionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectError, expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { addCouponOf, type CouponColumns, letRunOut, newOrder } from '../../support/redemptions.ts';

/** The names of the conditions with what became of each. */
const statesOf = ({ conditions }: CheckResponse) =>
  conditions.map(({ condition, state }) => `${ValidationRefusal[condition]} ${ConditionState[state]}`);

const all = [
  ...['EXPIRED', 'NOT_STARTED', 'NOT_AVAILABLE', 'BELOW_MINIMUM', 'NOT_FOR_USER', 'NOT_FOR_PRODUCTS'],
  ...['EXCLUSIVE', 'LIMIT_REACHED', 'USED_UP'],
];

redemptionContract('Check', (api) => {
  const coupon = (given?: CouponColumns) => addCouponOf(api.sql, given);
  const redeem = (code: string, order: object = {}) => api.guest.redeem({ code, ...newOrder(), ...order });
  /** Expects that all conditions are met but these. */
  const expectStates = (answer: CheckResponse, but: Readonly<Record<string, string>>) => {
    expect(statesOf(answer)).toEqual(all.map((name) => `${name} ${but[name] ?? 'MET'}`));
    expect(answer.valid).toBe(!Object.values(but).includes('FAILED'));
  };

  it('An order that says all is told of each condition, in the order of Redeem, for a caller without a staff identity', async () => {
    const { id, code } = await coupon({ max_limit_for_user: 3, max_uses: 5, product_ids: [7], min_order: 100 });
    const lines = [{ productId: 7, amount: 150 }];
    const answer = await api.guest.check({ code: code.toLowerCase(), ...newOrder(), lines });
    expectStates(answer, {});
    expect(answer).toMatchObject({ couponId: id, valid: true, discountAmount: 15, usesLeftForUser: 3, usesLeft: 5 });
    expect(answer.conditions.every(({ message }) => message === '')).toBe(true);
  });

  it('What the coupon asks for and the request does not say is not checked', async () => {
    const limits = { max_limit_for_user: 3, max_uses: 5, product_ids: [7], min_order: 100, is_apply_for_all: false };
    const { code } = await coupon({ ...limits, is_user_based: true });
    const answer = await api.guest.check({ code });
    expectStates(answer, {
      ...{ BELOW_MINIMUM: 'NOT_CHECKED', NOT_FOR_USER: 'NOT_CHECKED', NOT_FOR_PRODUCTS: 'NOT_CHECKED' },
      ...{ EXCLUSIVE: 'NOT_CHECKED', LIMIT_REACHED: 'NOT_CHECKED' },
    });
    expect(answer).toMatchObject({ valid: true, usesLeft: 5 });
    expect(answer.discountAmount).toBeUndefined();
    expect(answer.usesLeftForUser).toBeUndefined();
  });

  it('What the coupon does not ask for is met, but whether the order has another coupon', async () => {
    const answer = await api.guest.check({ code: (await coupon()).code });
    expectStates(answer, { EXCLUSIVE: 'NOT_CHECKED' });
    expect(answer.usesLeft).toBeUndefined();
    expect(answer.usesLeftForUser).toBeUndefined();
  });

  it('All conditions that fail are told, each with the message of Redeem', async () => {
    const dates = { valid_till: '2020-01-01Z', starts_at: '2999-01-01Z' };
    const limits = { min_order: 250.5, product_ids: [7], max_limit_for_user: 1, max_uses: 1 };
    const { id, code } = await coupon({ ...limits, is_user_based: true });
    const order = newOrder();
    await api.sql(
      `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at)
       values ($1, 1, 'of another order', 1, 1, 'USED', now())`,
      [id],
    );
    await redeem((await coupon({ exclusive_apply: true })).code, order);
    await api.sql(
      `update coupons set is_apply_for_all = false, is_user_based = false, valid_till = $2, starts_at = $3 where id = $1`,
      [id, dates.valid_till, dates.starts_at],
    );
    const answer = await api.guest.check({ code, ...order, productIds: [8] });
    expectStates(answer, Object.fromEntries(all.map((name) => [name, 'FAILED'])));
    expect(answer.conditions.map(({ message }) => message)).toEqual([
      ...['Coupon has expired', 'Coupon has not started', 'Coupon is not available for use'],
      ...['Minimum order amount is 250.5', 'Coupon is not available for this user'],
      ...['Coupon does not apply to these products', "Coupon can't be combined", 'Coupon limit reached'],
      'Coupon has been used up',
    ]);
    expect(answer).toMatchObject({ couponId: id, valid: false, discountAmount: 20, usesLeftForUser: 0, usesLeft: 0 });
  });

  it.each<[string, CouponColumns, string, string]>([
    ['', {}, 'CODE_EMPTY', 'Invalid coupon code'],
    ['NO-SUCH-CODE', {}, 'NOT_FOUND', 'Coupon not found or invalidated'],
    ['the code', { is_invalidated: true }, 'NOT_FOUND', 'Coupon not found or invalidated'],
  ])('Of "%s" one condition alone is told, if there is no coupon %j', async (given, columns, condition, message) => {
    const { code } = await coupon(columns);
    const answer = await api.guest.check({ code: given === 'the code' ? code : given, ...newOrder() });
    expect(statesOf(answer)).toEqual([`${condition} FAILED`]);
    expect(answer).toMatchObject({ valid: false, conditions: [{ message }] });
    expect(answer.couponId).toBeUndefined();
  });

  it("The order's own use is free, held or used, and in what is left, too", async () => {
    const { code } = await coupon({ max_limit_for_user: 2, max_uses: 2 });
    for (const holdSeconds of [900, 0]) {
      const order = newOrder();
      expect((await redeem(code, { ...order, holdSeconds })).valid).toBe(true);
      const left = holdSeconds === 0 ? 1 : 2;
      expect(await api.guest.check({ code, ...order })).toMatchObject({
        valid: true,
        usesLeftForUser: left,
        usesLeft: left,
      });
    }
    expectStates(await api.guest.check({ code, ...newOrder() }), { LIMIT_REACHED: 'FAILED', USED_UP: 'FAILED' });
    expectStates(await api.guest.check({ code, ...newOrder(), userId: 2 }), { USED_UP: 'FAILED' });
  });

  it('A hold that has run out leaves its use to others', async () => {
    const { code } = await coupon({ max_limit_for_user: 1, max_uses: 1 });
    const { redemption } = await redeem(code);
    await letRunOut(api.sql, redemption?.id);
    expect(await api.guest.check({ code, ...newOrder() })).toMatchObject({
      valid: true,
      usesLeftForUser: 1,
      usesLeft: 1,
    });
  });

  it('A limit that was lowered leaves nothing, and not less', async () => {
    const { id, code } = await coupon();
    await Promise.all([redeem(code), redeem(code)]);
    await api.sql('update coupons set max_limit_for_user = 1, max_uses = 1 where id = $1', [id]);
    expect(await api.guest.check({ code, ...newOrder() })).toMatchObject({ usesLeftForUser: 0, usesLeft: 0 });
  });

  it.each<[object, number | undefined]>([
    [{ orderAmount: 200 }, 20],
    [{ orderAmount: 0 }, 0],
    [{ productIds: [7] }, undefined],
    [{ orderAmount: 200, lines: [{ productId: 7, amount: 50 }] }, 5],
    [{ lines: [{ productId: 7, amount: 50 }] }, 5],
    [{ lines: [{ productId: 8, amount: 50 }] }, 0],
  ])('The discount of %j is %s for a coupon that is limited to products', async (said, discount) => {
    const { code } = await coupon({ product_ids: [7] });
    expect((await api.guest.check({ code, ...said })).discountAmount).toBe(discount);
  });

  it('Lines without an amount give no discount for a coupon for all products', async () => {
    const { code } = await coupon();
    expect((await api.guest.check({ code, lines: [{ productId: 7, amount: 50 }] })).discountAmount).toBeUndefined();
  });

  it("Errors are those of Redeem: an unknown user, and another user's order", async () => {
    const { code } = await coupon();
    const order = newOrder();
    await redeem(code, order);
    await expectError(api.guest.check({ code: '', userId: 999 }), 'USER_NOT_FOUND');
    await expectError(api.guest.check({ code, userExternalId: 'nobody' }), 'USER_NOT_FOUND');
    await expectError(api.guest.check({ code, ...order, userId: 2 }), 'ORDER_KEY_TAKEN');
    expect((await api.guest.check({ code, orderKey: order.orderKey })).valid).toBe(true);
    await expectInvalidField(api.guest.check({ code, userId: 1, userExternalId: 'one' }), 'user_external_id');
    await expectInvalidField(api.guest.check({ code, orderKey: 'a b' }), 'order_key');
    await expectInvalidField(api.guest.check({ code, orderAmount: -1 }), 'order_amount');
    await expectInvalidField(api.guest.check({ code, lines: [{ amount: 1 }] }), 'lines[0].product_id');
  });

  it('Nothing is written', async () => {
    const { code } = await coupon({ max_uses: 1 });
    const state = () =>
      api.sql(
        'select (select count(*) from redemptions), (select count(*) from audit_entries), (select sum(held + used) from coupon_usage)',
      );
    const before = await state();
    await api.guest.check({ code, ...newOrder() });
    expect(await state()).toEqual(before);
  });
});
