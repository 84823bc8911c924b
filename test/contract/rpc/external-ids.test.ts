import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectError, expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { newName } from '../../support/mutations.ts';
import { addCouponOf, newOrder } from '../../support/redemptions.ts';

redemptionContract('A user of the checkout by an external id', (api) => {
  beforeAll(() => api.sql(`update users set external_id = 'x-' || id; update users set mobile = null where id = 4`));
  const order = () => ({ orderKey: newName('order'), orderAmount: 200 });

  async function reserve(): Promise<string> {
    const secretCode = newName('SECRET');
    await api.sql(
      'insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ($1, $1, 5, 1)',
      [secretCode],
    );
    return secretCode;
  }

  it('Redeem takes the external id in the place of the id', async () => {
    const { id, code } = await addCouponOf(api.sql, { is_apply_for_all: false, is_user_based: true });
    await api.sql('insert into coupon_applicable_users (coupon_id, user_id) values ($1, 2)', [id]);
    const { valid, redemption } = await api.guest.redeem({ ...order(), code, userExternalId: 'x-2' });
    expect({ valid, userId: redemption?.userId }).toEqual({ valid: true, userId: 2 });
    expect(await api.guest.redeem({ ...order(), code, userExternalId: 'x-1' })).toMatchObject({ valid: false });
  });

  it('Redeem knows the order of a user by either name', async () => {
    const { code } = await addCouponOf(api.sql);
    const placed = order();
    const { redemption } = await api.guest.redeem({ ...placed, code, userExternalId: 'x-2' });
    const again = await api.guest.redeem({ ...placed, code, userId: 2 });
    expect(again.redemption?.id).toBe(redemption?.id);
    await expectError(api.guest.redeem({ ...placed, code, userExternalId: 'x-1' }), 'ORDER_KEY_TAKEN');
  });

  it('Claim takes the external id in the place of the id', async () => {
    const { coupon, reservedCoupon } = await api.guest.claim({ secretCode: await reserve(), userExternalId: 'x-4' });
    expect(coupon?.id).toBeGreaterThan(0);
    expect(reservedCoupon?.redeemedUser).toMatchObject({ id: 4, mobile: '' });
  });

  it('An unknown external id is not found, as an unknown id is', async () => {
    const { code } = await addCouponOf(api.sql);
    await expectError(api.guest.redeem({ ...order(), code, userExternalId: 'none' }), 'USER_NOT_FOUND');
    await expectError(api.guest.claim({ secretCode: await reserve(), userExternalId: 'none' }), 'USER_NOT_FOUND');
  });

  it.each([
    [{ userId: 1, userExternalId: 'x-1' }, 'user_external_id'],
    [{}, 'user_id'],
    [{ userId: 0 }, 'user_id'],
    [{ userExternalId: 'x'.repeat(129) }, 'user_external_id'],
  ])('%j names no one user', async (user, field) => {
    await expectInvalidField(api.guest.redeem({ ...order(), code: 'X', ...user }), field);
    await expectInvalidField(api.guest.claim({ secretCode: 'X', ...user }), field);
  });

  it('An id of 0 beside an external id is none', async () => {
    const { code } = await addCouponOf(api.sql);
    const { redemption } = await api.guest.redeem({ ...newOrder(), code, userId: 0, userExternalId: 'x-3' });
    expect(redemption?.userId).toBe(3);
  });
});

redemptionContract('An order to refund by an external id', (api) => {
  const coupons = () => createClient(CouponService, api.transportAs('staff'));
  beforeAll(() =>
    api.sql(`update users set name = null, mobile = null where id = 4;
      insert into orders (id, external_id, user_id, total_amount) values (71, 'o-71', 1, 10), (72, 'o-72', 4, 10)`),
  );

  it('GenerateCancellationCoupon takes the external id in the place of the id', async () => {
    const { coupon } = await coupons().generateCancellationCoupon({ orderExternalId: 'o-71' });
    expect(coupon?.couponCode).toBe('USE71');
    await expectError(coupons().generateCancellationCoupon({ orderId: 71 }), 'COUPON_CODE_TAKEN');
  });

  it('The refund of a user who has neither a name nor a mobile number begins with USR', async () => {
    const { coupon } = await coupons().generateCancellationCoupon({ orderId: 72 });
    expect(coupon?.couponCode).toBe('USR72');
  });

  it('An unknown external id, and the id 0, are not found', async () => {
    await expectError(coupons().generateCancellationCoupon({ orderExternalId: 'none' }), 'ORDER_NOT_FOUND');
    await expectError(coupons().generateCancellationCoupon({ orderId: 0 }), 'ORDER_NOT_FOUND');
  });

  it.each([
    [{ orderId: 71, orderExternalId: 'o-71' }, 'order_external_id'],
    [{}, 'order_id'],
  ])('%j names no one order', async (order, field) => {
    await expectInvalidField(coupons().generateCancellationCoupon(order), field);
  });
});
