import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectError } from '../../support/contract.ts';
import { runService } from '../../support/running-service.ts';

const terms = { coupon: { discountPercent: 10 } };

describe('COUPON_STAFF_ONLY', () => {
  const service = runService('coupon', () => ({ couponStaffOnly: true }));
  const as = (staffId?: number) => createClient(CouponService, service.as({ staffId }));

  it('With COUPON_STAFF_ONLY, callers without a staff identity are refused by procedures that are otherwise open to them', async () => {
    const guest = as();
    for (const call of [
      () => guest.update({ id: 1, updates: {} }),
      () => guest.delete({ id: 1 }),
      () => guest.getAll({}),
      () => guest.getById({ id: 1 }),
      () => guest.getReservedCoupons({}),
      () => guest.getUsersMiniInfo({}),
    ]) {
      await expectError(call(), 'UNAUTHORIZED');
    }
  });

  it('With COUPON_STAFF_ONLY, callers without a staff identity may validate, and rules that precede the identity keep their order', async () => {
    const guest = as();
    expect((await guest.validate({ code: 'none', userId: 1, orderAmount: 1 })).valid).toBe(false);
    await expectError(guest.create({ coupon: {} }), 'ONE_DISCOUNT_REQUIRED');
    await expectError(guest.create(terms), 'UNAUTHORIZED');
  });

  it('With COUPON_STAFF_ONLY, staff may call every procedure', async () => {
    const staff = as(1);
    const { coupon } = await staff.create(terms);
    const id = coupon?.id ?? 0;
    await staff.update({ id, updates: { coupon: { minOrder: 5 } } });
    await staff.delete({ id });
    expect((await staff.getById({ id })).coupon?.isInvalidated).toBe(true);
    expect((await staff.getAll({})).coupons).toHaveLength(1);
    expect((await staff.getReservedCoupons({})).coupons).toEqual([]);
    expect((await staff.getUsersMiniInfo({})).users).toHaveLength(5);
  });
});
