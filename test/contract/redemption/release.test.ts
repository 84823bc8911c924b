import { expect, it } from 'vitest';
import { RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { addCouponOf, entriesOf, letRunOut, newOrder } from '../../support/redemptions.ts';

redemptionContract('Release', (api) => {
  async function redeemed(holdSeconds: number) {
    const { code } = await addCouponOf(api.sql, { max_limit_for_user: 1 });
    const { redemption } = await api.guest.redeem({ code, ...newOrder(), holdSeconds });
    if (redemption === undefined) throw new Error('the coupon is not redeemed');
    return { code, redemption };
  }

  it.each([
    ['HELD', 900],
    ['USED', 0],
    ['EXPIRED', 900],
  ])('A redemption that is %s is released, and its use is free again', async (state, holdSeconds) => {
    const { code, redemption } = await redeemed(holdSeconds);
    if (state === 'EXPIRED') await letRunOut(api.sql, redemption.id);
    const redemptionId = redemption.id;
    const answer = await api.guest.release({ redemptionId, reason: 'the order was cancelled' });
    expect(answer.redemption).toMatchObject({ id: redemptionId, state: RedemptionState.RELEASED });
    expect(answer.redemption?.usedAt).toEqual(redemption.usedAt);
    expect(answer.redemption?.heldUntil).toBeUndefined();
    expect(answer.redemption?.releasedAt).toBeDefined();
    expect((await api.guest.redeem({ code, ...newOrder() })).valid).toBe(true);
    expect((await entriesOf(api, 'redemption', redemptionId))[1]).toMatchObject({
      procedure: 'coupon.v1.RedemptionService/Release',
      before: { state: `REDEMPTION_STATE_${state}` },
      after: { state: 'REDEMPTION_STATE_RELEASED', reason: 'the order was cancelled' },
    });
  });

  it('A released one stays as it is, and leaves no entry', async () => {
    const { redemption } = await redeemed(900);
    const first = await api.guest.release({ redemptionId: redemption.id });
    expect(await api.guest.release({ redemptionId: redemption.id, reason: 'again' })).toEqual(first);
    const entries = await entriesOf(api, 'redemption', redemption.id);
    expect(entries).toHaveLength(2);
    expect(entries[1]?.after).not.toHaveProperty('reason');
  });

  it('A reason of 200 characters is kept, and a longer one refused', async () => {
    const { redemption } = await redeemed(900);
    const reason = '🎟'.repeat(200);
    await expectInvalidField(api.guest.release({ redemptionId: redemption.id, reason: `${reason}x` }), 'reason');
    await api.guest.release({ redemptionId: redemption.id, reason });
    expect((await entriesOf(api, 'redemption', redemption.id))[1]?.after).toHaveProperty('reason', reason);
  });
});
