import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { ValidationRefusal } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectError, expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { addCouponOf, type CouponColumns, entriesOf, letRunOut, newOrder } from '../../support/redemptions.ts';

const { HELD, USED, RELEASED, EXPIRED } = RedemptionState;
const anothersOrder = {
  code: 'AlreadyExists',
  message: "This order is another user's",
  reason: 'ORDER_KEY_TAKEN',
} as const;

redemptionContract('Redeem', (api) => {
  const coupon = (given?: CouponColumns) => addCouponOf(api.sql, given);
  const hold = (code: string, order: object = {}) => api.guest.redeem({ code, ...newOrder(), ...order });
  const redemptions = () => api.sql('select * from redemptions order by id');

  it('A use is held for 900 seconds, for a caller without a staff identity', async () => {
    const { id, code } = await coupon({ max_value: 15 });
    const order = newOrder();
    const answer = await api.guest.redeem({ code: ` ${code}`.trim().toLowerCase(), ...order });
    expect(answer).toMatchObject({ valid: true, discountAmount: 15 });
    expect(answer.refusal).toBeUndefined();
    expect(answer.message).toBeUndefined();
    const { redemption } = answer;
    expect(redemption).toMatchObject({
      ...{ couponId: id, userId: 1, orderKey: order.orderKey, orderAmount: '200', discountAmount: '15', state: HELD },
    });
    if (redemption?.heldUntil === undefined || redemption.createdAt === undefined) throw new Error('a time is missing');
    expect(timestampDate(redemption.heldUntil).getTime() - timestampDate(redemption.createdAt).getTime()).toBe(900_000);
    expect(redemption.usedAt).toBeUndefined();
    expect(redemption.releasedAt).toBeUndefined();
    expect(await entriesOf(api, 'redemption', redemption.id)).toEqual([
      {
        procedure: 'coupon.v1.RedemptionService/Redeem',
        before: undefined,
        after: {
          ...{ couponId: id, userId: 1, orderKey: order.orderKey, orderAmount: '200', discountAmount: '15' },
          state: 'REDEMPTION_STATE_HELD',
          createdAt: timestampDate(redemption.createdAt).toISOString().replace('.000Z', 'Z'),
          heldUntil: timestampDate(redemption.heldUntil).toISOString().replace('.000Z', 'Z'),
        },
      },
    ]);
  });

  it('A hold of 0 seconds uses the coupon at once', async () => {
    const { code } = await coupon();
    const { redemption } = await hold(code, { holdSeconds: 0 });
    expect(redemption?.state).toBe(USED);
    expect(redemption?.heldUntil).toBeUndefined();
    expect(redemption?.usedAt).toEqual(redemption?.createdAt);
  });

  it.each([
    [{ discount_percent: 33.3 }, 0.1, '0.0333', 0.0333],
    [{ discount_percent: 12.5, max_value: 1.25 }, 100, '1.25', 1.25],
    [{ discount_percent: 10, flat_discount: 7 }, 1e21, '100000000000000000000', 1e20],
    [{ discount_percent: null, flat_discount: 7.5 }, 2, '7.5', 7.5],
    [{ discount_percent: 0.1 }, 0, '0', 0],
  ])('The discount of %j for %f is stored exactly', async (given, orderAmount, exact, discountAmount) => {
    const { code } = await coupon(given);
    const answer = await hold(code, { orderAmount });
    expect(answer.discountAmount).toBe(discountAmount);
    expect(answer.redemption?.discountAmount).toBe(exact);
  });

  it('An unknown user is an error, before anything about the code', async () => {
    const notFound = { code: 'NotFound', message: 'User not found', reason: 'USER_NOT_FOUND' } as const;
    await expectError(hold('', { userId: 999 }), notFound);
    await expectError(hold('NO-SUCH-CODE', { userId: 999 }), notFound);
  });

  it.each<[string, CouponColumns, object, object]>([
    ['expired', { valid_till: '2020-01-01Z' }, {}, { refusal: 'EXPIRED', message: 'Coupon has expired' }],
    ['invalidated', { is_invalidated: true }, {}, { refusal: 'NOT_FOUND', message: 'Coupon not found or invalidated' }],
    [
      'for nobody',
      { is_apply_for_all: false },
      {},
      { refusal: 'NOT_AVAILABLE', message: 'Coupon is not available for use' },
    ],
    [
      'below its minimum',
      { min_order: 250.5 },
      { orderAmount: 250 },
      { refusal: 'BELOW_MINIMUM', message: 'Minimum order amount is 250.5', minOrder: '250.5' },
    ],
    [
      'for others',
      { is_apply_for_all: false, is_user_based: true },
      {},
      { refusal: 'NOT_FOR_USER', message: 'Coupon is not available for this user' },
    ],
    [
      'for other products',
      { product_ids: [7, 8] },
      { productIds: [6, 9] },
      { refusal: 'NOT_FOR_PRODUCTS', message: 'Coupon does not apply to these products' },
    ],
  ])(
    'A coupon that is %s is refused, and nothing is written',
    async (_name, given, order, { refusal, ...expected }: any) => {
      const { code } = await coupon(given);
      const before = await redemptions();
      const answer = await hold(code, order);
      expect(answer).toMatchObject({ valid: false, refusal: ValidationRefusal[refusal], ...expected });
      expect(answer.redemption).toBeUndefined();
      expect(answer.discountAmount).toBeUndefined();
      expect(await redemptions()).toEqual(before);
    },
  );
});
