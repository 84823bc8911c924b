import { createClient } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { procedures } from '../../support/calls.ts';
import { expectError } from '../../support/contract.ts';
import { runService } from '../../support/running-service.ts';

const terms = { coupon: { discountPercent: 10 } };

describe('COUPON_STAFF_ONLY', () => {
  const service = runService('coupon', () => ({ couponStaffOnly: true }));
  const as = (staffId?: number) => createClient(CouponService, service.as({ staffId }));

  const open = ['update', 'delete', 'getAll', 'getById', 'getReservedCoupons', 'getUsersMiniInfo'];
  it.each(procedures.coupon.filter(({ name }) => open.includes(name.replace('CouponService.', ''))))(
    'With COUPON_STAFF_ONLY, $name, which is otherwise open to them, refuses callers without a staff identity',
    async ({ succeeds }) => void (await expectError(succeeds(service.guest, 1), 'UNAUTHORIZED')),
  );

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
