import { beforeAll, expect, it } from 'vitest';
import { RedemptionState } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { accessDenied, expectError, expectInvalidField, redemptionContract } from '../../support/contract.ts';

const { HELD, USED, RELEASED, EXPIRED } = RedemptionState;

redemptionContract('ListRedemptions and GetUsage', (api) => {
  // Of the coupons 1 and 2, the users 1 and 2, and in turns: a hold, one that has run out and one that is marked so, a used and a
  // released one.
  beforeAll(async () => {
    await api.sql(`
      insert into redemptions (
        coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at, used_at, released_at, turn
      )
      select 1 + id % 2, 1 + id % 3 % 2, 'order-' || (id - 1) / 3, id, id * 0.25,
        (array['HELD', 'HELD', 'EXPIRED', 'USED', 'RELEASED'])[1 + id % 5],
        case id % 5 when 0 then now() + interval '1 hour' when 1 then now() - interval '1 minute' when 2 then now() end,
        now(), case when id % 5 in (3, 4) then now() end, case when id % 5 = 4 then now() end, id
      from generate_series(1, 60) as id`);
  });
  const idsOf = async (request: Parameters<typeof api.staff.listRedemptions>[0]) =>
    (await api.staff.listRedemptions(request)).redemptions.map(({ id }) => id);
  const ids = Array.from({ length: 60 }, (_id, index) => 60 - index);
  const stateOf = (id: number) => [HELD, EXPIRED, EXPIRED, USED, RELEASED][id % 5];
  const couponOf = (id: number) => 1 + (id % 2);
  const userOf = (id: number) => 1 + ((id % 3) % 2);
  const orderOf = (id: number) => `order-${Math.floor((id - 1) / 3)}`;

  it('All redemptions are listed, newest first, with the state of this moment', async () => {
    const { redemptions, nextPageToken } = await api.staff.listRedemptions({ limit: 1_000 });
    expect(redemptions.map(({ id }) => id)).toEqual(ids);
    expect(redemptions.map(({ state }) => state)).toEqual(ids.map(stateOf));
    expect(nextPageToken).toBe('');
    const [hold, released] = [redemptions.find(({ id }) => id === 5), redemptions.find(({ id }) => id === 4)];
    expect(hold).toMatchObject({
      couponId: 2,
      userId: 1,
      orderKey: 'order-1',
      orderAmount: '5',
      discountAmount: '1.25',
    });
    expect([hold?.heldUntil === undefined, hold?.usedAt, hold?.releasedAt]).toEqual([false, undefined, undefined]);
    expect([released?.heldUntil, released?.usedAt === undefined, released?.releasedAt === undefined]).toEqual([
      ...[undefined, false, false],
    ]);
  });

  it('50 are listed without a limit', async () => {
    expect(await idsOf({})).toEqual(ids.slice(0, 50));
  });

  it.each([
    [{ couponId: 1 }, (id: number) => couponOf(id) === 1],
    [{ userId: 2 }, (id: number) => userOf(id) === 2],
    [{ orderKey: 'order-3' }, (id: number) => orderOf(id) === 'order-3'],
    [{ couponId: 2, userId: 2 }, (id: number) => couponOf(id) === 2 && userOf(id) === 2],
    [
      { couponId: 2, userId: 1, orderKey: 'order-1' },
      (id: number) => couponOf(id) === 2 && userOf(id) === 1 && orderOf(id) === 'order-1',
    ],
    [{ states: [HELD] }, (id: number) => stateOf(id) === HELD],
    [{ states: [EXPIRED, USED, EXPIRED] }, (id: number) => [EXPIRED, USED].includes(stateOf(id) ?? HELD)],
    [{ couponId: 2, states: [EXPIRED] }, (id: number) => couponOf(id) === 2 && stateOf(id) === EXPIRED],
    [{ userId: 1, states: [RELEASED] }, (id: number) => userOf(id) === 1 && stateOf(id) === RELEASED],
    [{ couponId: 99 }, () => false],
  ])('The redemptions of %j are listed, page by page', async (filters, matches) => {
    const found: number[] = [];
    for (let pageToken = ''; ; ) {
      const page = await api.staff.listRedemptions({ ...filters, limit: 4, pageToken });
      found.push(...page.redemptions.map(({ id }) => id));
      expect(page.redemptions.length).toBeLessThanOrEqual(4);
      pageToken = page.nextPageToken;
      if (pageToken === '') break;
    }
    expect(found).toEqual(ids.filter(matches));
  });

  it('A page token is bound to its filters, not to its limit', async () => {
    const { nextPageToken: pageToken } = await api.staff.listRedemptions({ couponId: 1, limit: 2 });
    expect(await idsOf({ couponId: 1, limit: 1, pageToken })).toEqual([56]);
    await expectInvalidField(idsOf({ couponId: 2, pageToken }), 'page_token');
    await expectInvalidField(idsOf({ pageToken: 'x' }), 'page_token');
  });

  it.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 1_001 }, 'limit'],
    [{ states: [RedemptionState.UNSPECIFIED] }, 'states[0]'],
    [{ orderKey: '' }, 'order_key'],
    [{ orderKey: ' ' }, 'order_key'],
  ])('%j is refused: %s is out of bounds', async (wrong, field) => {
    await expectInvalidField(idsOf(wrong), field);
  });

  it('Usage is counted by the state of this moment, in the order asked, with zeros for a coupon without any', async () => {
    const usageOf = (couponId: number) => {
      const of = (state: RedemptionState) => ids.filter((id) => couponOf(id) === couponId && stateOf(id) === state);
      const sum = of(USED).reduce((total, id) => total + id * 0.25, 0);
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

  it('Both are for staff only', async () => {
    await expectError(api.guest.listRedemptions({}), accessDenied);
    await expectError(api.guest.getUsage({ couponIds: [1] }), accessDenied);
  });
});
