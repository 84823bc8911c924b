import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectError } from '../../support/contract.ts';
import { grpc } from '../../support/protocols.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { signToken, withToken } from '../../support/tokens.ts';

const terms = { coupon: { discountPercent: 10 } };

describe('COUPON_STAFF_ONLY', () => {
  let service: TestService;
  let connection: ReturnType<typeof grpc.open>;
  beforeAll(async () => {
    service = await startTestService('coupon', () => ({ couponStaffOnly: true }));
    connection = grpc.open(service);
  });
  afterAll(async () => {
    connection.close();
    await service.stop();
  });
  const as = async (staffId?: number) =>
    createClient(CouponService, withToken(connection.transport, await signToken({ staffId })));

  it('With COUPON_STAFF_ONLY, callers without a staff identity are refused by procedures that are otherwise open to them', async () => {
    const guest = await as();
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
    const guest = await as();
    expect((await guest.validate({ code: 'none', userId: 1, orderAmount: 1 })).valid).toBe(false);
    await expectError(guest.create({ coupon: {} }), 'ONE_DISCOUNT_REQUIRED');
    await expectError(guest.create(terms), 'UNAUTHORIZED');
  });

  it('With COUPON_STAFF_ONLY, staff may call every procedure', async () => {
    const staff = await as(1);
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
