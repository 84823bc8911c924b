import type { MessageInitShape } from '@bufbuild/protobuf';
import { beforeAll, expect, it } from 'vitest';
import {
  type ListRedemptionsRequestSchema,
  RedemptionState,
} from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { readPages } from '../../support/pages.ts';
import { addSixty, sixty } from '../../support/redemptions.ts';

type Request = MessageInitShape<typeof ListRedemptionsRequestSchema>;

const { HELD, USED, RELEASED, EXPIRED } = RedemptionState;

redemptionContract('ListRedemptions', (api) => {
  beforeAll(() => addSixty(api.sql));
  const idsOf = async (request: Request) => (await api.staff.listRedemptions(request)).redemptions.map(({ id }) => id);
  it('All redemptions are listed, newest first, with the state of this moment', async () => {
    const { redemptions, nextPageToken } = await api.staff.listRedemptions({ limit: 1_000 });
    expect(redemptions.map(({ id }) => id)).toEqual(sixty.map(({ id }) => id));
    expect(redemptions.map(({ state }) => state)).toEqual(sixty.map(({ state }) => state));
    expect(nextPageToken).toBe('');
    const [hold, released] = [redemptions.find(({ id }) => id === 5), redemptions.find(({ id }) => id === 4)];
    expect(hold).toMatchObject({
      ...{ couponId: 2, userId: 1, orderKey: 'order-2', orderAmount: '5', discountAmount: '1.25' },
    });
    expect([hold?.heldUntil === undefined, hold?.usedAt, hold?.releasedAt]).toEqual([false, undefined, undefined]);
    expect([released?.heldUntil, released?.usedAt === undefined, released?.releasedAt === undefined]).toEqual([
      ...[undefined, false, false],
    ]);
  });

  it('50 are listed without a limit', async () => {
    expect(await idsOf({})).toEqual(sixty.slice(0, 50).map(({ id }) => id));
  });

  type Redemption = (typeof sixty)[number];
  it.each<[Request, (redemption: Redemption) => boolean]>([
    [{ couponId: 1 }, ({ couponId }) => couponId === 1],
    [{ userId: 2 }, ({ userId }) => userId === 2],
    [{ orderKey: 'order-3' }, ({ orderKey }) => orderKey === 'order-3'],
    [{ couponId: 2, userId: 2 }, ({ couponId, userId }) => couponId === 2 && userId === 2],
    [
      { couponId: 2, userId: 1, orderKey: 'order-2' },
      ({ couponId, userId, orderKey }) => couponId === 2 && userId === 1 && orderKey === 'order-2',
    ],
    [{ states: [HELD] }, ({ state }) => state === HELD],
    [{ states: [EXPIRED, USED, EXPIRED] }, ({ state }) => state === EXPIRED || state === USED],
    [{ couponId: 2, states: [EXPIRED] }, ({ couponId, state }) => couponId === 2 && state === EXPIRED],
    [{ userId: 1, states: [RELEASED] }, ({ userId, state }) => userId === 1 && state === RELEASED],
    [{ orderKey: 'order-4', states: [USED] }, ({ orderKey, state }) => orderKey === 'order-4' && state === USED],
    [{ couponId: 99 }, () => false],
  ])('The redemptions of %j are listed, page by page, and counted', async (filters, matches) => {
    const pages = await readPages((pageToken) => api.staff.listRedemptions({ ...filters, limit: 4, pageToken }));
    for (const page of pages) expect(page.redemptions.length).toBeLessThanOrEqual(4);
    const found = pages.flatMap(({ redemptions }) => redemptions.map(({ id }) => id));
    expect(found).toEqual(sixty.filter(matches).map(({ id }) => id));
    const { total } = await api.staff.listRedemptions({ ...filters, limit: 1, withTotal: true });
    expect([total, pages[0]?.total]).toEqual([found.length, undefined]);
  });

  it('More than 10,000 are counted as 10,001', async () => {
    const add = (count: number) =>
      api.sql(
        `insert into redemptions (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at)
         select (select max(id) from redemptions) + n, 50, 1, 'many', 1, 1, 'USED', now() from generate_series(1, $1::integer) n`,
        [count],
      );
    const totalOf = async () => (await api.staff.listRedemptions({ couponId: 50, limit: 1, withTotal: true })).total;
    await add(10_000);
    expect(await totalOf()).toBe(10_000);
    await add(2);
    expect(await totalOf()).toBe(10_001);
    await api.sql('delete from redemptions where coupon_id = 50');
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
});
