import { expect, it } from 'vitest';
import { RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectError, redemptionContract } from '../../support/contract.ts';
import { addCouponOf, type CouponColumns, entriesOf, letRunOut, newOrder } from '../../support/redemptions.ts';

redemptionContract('Confirm', (api) => {
  /** Holds a new coupon for a new order. */
  async function held(given?: CouponColumns) {
    const coupon = await addCouponOf(api.sql, given);
    const order = newOrder();
    const { redemption } = await api.guest.redeem({ code: coupon.code, ...order });
    if (redemption === undefined) throw new Error('the coupon is not held');
    return { coupon, order, redemption };
  }
  const confirm = (redemptionId: number) => api.guest.confirm({ redemptionId });

  it('A held coupon becomes used, whatever became of it', async () => {
    const { coupon, redemption } = await held();
    await api.sql('update coupons set is_invalidated = true, max_limit_for_user = 1 where id = $1', [coupon.id]);
    const answer = await confirm(redemption.id);
    const { usedAt } = answer.redemption ?? {};
    const { heldUntil: _heldUntil, ...kept } = redemption;
    expect(answer.redemption).toEqual({ ...kept, state: RedemptionState.USED, usedAt });
    expect(usedAt).toBeDefined();
    expect(await entriesOf(api, 'redemption', redemption.id)).toMatchObject([
      {},
      {
        procedure: 'coupon.v1.RedemptionService/Confirm',
        before: { state: 'REDEMPTION_STATE_HELD' },
        after: { state: 'REDEMPTION_STATE_USED' },
      },
    ]);
  });

  it('A used one stays as it is, and leaves no entry', async () => {
    const { redemption } = await held();
    const first = await confirm(redemption.id);
    expect(await confirm(redemption.id)).toEqual(first);
    expect(await entriesOf(api, 'redemption', redemption.id)).toHaveLength(2);
  });

  it('A hold that has run out is taken again while there is room', async () => {
    const { redemption } = await held({ max_limit_for_user: 1, exclusive_apply: true });
    await letRunOut(api.sql, redemption.id);
    const answer = await confirm(redemption.id);
    expect(answer.redemption).toMatchObject({ id: redemption.id, state: RedemptionState.USED });
    expect((await entriesOf(api, 'redemption', redemption.id))[1]).toMatchObject({
      before: { state: 'REDEMPTION_STATE_EXPIRED' },
      after: { state: 'REDEMPTION_STATE_USED' },
    });
  });

  it('A hold that a sweep has marked is taken again, too', async () => {
    const { redemption } = await held();
    await letRunOut(api.sql, redemption.id);
    await api.sql(`update redemptions set state = 'EXPIRED' where id = $1`, [redemption.id]);
    expect((await confirm(redemption.id)).redemption?.state).toBe(RedemptionState.USED);
  });

  it('A hold that has run out is refused where the limit leaves no room', async () => {
    const { coupon, redemption } = await held({ max_limit_for_user: 1 });
    await letRunOut(api.sql, redemption.id);
    const other = await api.guest.redeem({ code: coupon.code, ...newOrder() });
    expect(other.valid).toBe(true);
    await expectError(confirm(redemption.id), 'HOLD_EXPIRED');
    await api.guest.release({ redemptionId: other.redemption?.id });
    expect((await confirm(redemption.id)).redemption?.state).toBe(RedemptionState.USED);
  });

  it.each([
    ['an exclusive coupon leaves no room', { exclusive_apply: true }, 1],
    ['the order has the coupon again', undefined, 2],
  ])('A hold that has run out is refused where %s', async (_why, other, userId) => {
    const { coupon, order, redemption } = await held();
    await letRunOut(api.sql, redemption.id);
    const { code } = other === undefined ? coupon : await addCouponOf(api.sql, other);
    expect((await api.guest.redeem({ code, ...order, userId })).valid).toBe(true);
    await expectError(confirm(redemption.id), 'HOLD_EXPIRED');
  });
});
