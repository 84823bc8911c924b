import { beforeAll, expect, it } from 'vitest';
import { RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { addSixty, sixty } from '../../support/redemptions.ts';

const { HELD, USED, RELEASED, EXPIRED } = RedemptionState;

redemptionContract('GetUsage', (api) => {
  beforeAll(() => addSixty(api.sql));

  it('Usage is counted by the state of this moment, in the order asked, with zeros for a coupon without any', async () => {
    const usageOf = (couponId: number) => {
      const of = (state: RedemptionState) => sixty.filter((each) => each.couponId === couponId && each.state === state);
      const sum = of(USED).reduce((total, { id }) => total + id * 0.25, 0);
      const counts = { held: of(HELD).length, used: of(USED).length, released: of(RELEASED).length };
      return { couponId, ...counts, expired: of(EXPIRED).length, discountUsed: String(sum) };
    };
    const { usage } = await api.staff.getUsage({ couponIds: [2, 99, 1, 2] });
    expect(usage).toMatchObject([
      usageOf(2),
      { couponId: 99, held: 0, used: 0, released: 0, expired: 0, discountUsed: '0' },
      usageOf(1),
    ]);
    expect(usage).toHaveLength(3);
  });

  it('Usage is asked for 1 to 1,000 coupons', async () => {
    const couponIds = Array.from({ length: 1_000 }, (_id, index) => index - 500);
    expect((await api.staff.getUsage({ couponIds })).usage.map(({ couponId }) => couponId)).toEqual(couponIds);
    await expectInvalidField(api.staff.getUsage({ couponIds: [...couponIds, 1_000] }), 'coupon_ids');
    await expectInvalidField(api.staff.getUsage({ couponIds: [] }), 'coupon_ids');
  });
});
