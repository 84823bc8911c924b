import { createClient } from '@connectrpc/connect';
import { afterEach, expect, it } from 'vitest';
import { foldUses } from '../../../services/coupon-service/redemptions/uses.ts';
import { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { expectError, expectInvalidField, redemptionContract } from '../../support/contract.ts';
import { holding } from '../../support/locks.ts';
import { addCouponOf, letRunOut, newOrder } from '../../support/redemptions.ts';

const week = { from: '2040-01-02', until: '2040-01-04' };
const today = () => new Date().toISOString().slice(0, 10);

redemptionContract('GetOverview', (api) => {
  const overview = (asked: { from?: string; until?: string; timeZone?: string } = {}) =>
    api.staff.getOverview({ ...week, ...asked });
  const daysOf = async (asked: { from?: string; until?: string; timeZone?: string } = {}) =>
    (await overview(asked)).days.map(({ date, uses, discountGiven }) => [date, uses, discountGiven]);
  const ofToday = async () => {
    const until = new Date(Date.now() + 1).toISOString();
    const [day] = await daysOf({ from: today(), until });
    return day?.slice(1);
  };
  /** Adds a used redemption of a discount of 1.50. */
  const use = (usedAt: string, discount = '1.50') =>
    api.sql(
      `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
       values (1, 1, 'o', 10, $2, 'USED', now(), $1)`,
      [usedAt, discount],
    );
  /** Folds all, as the sweep does. */
  const fold = async () => {
    const { text, values } = foldUses({ most: 1_000 });
    await api.sql(text, [...values]);
    expect(await api.sql('select from unfolded_uses')).toEqual([]);
  };

  afterEach(() => api.sql('delete from redemptions; delete from coupons where id > 2'));

  it('Each day of the interval is there, with what was used on it', async () => {
    await use('2040-01-02T00:00Z');
    await use('2040-01-02T23:59:59.999999Z', '0.25');
    await use('2040-01-04T00:00Z');
    await use('2040-01-01T23:59:59Z');
    const days = [
      ['2040-01-02', 2, '1.75'],
      ['2040-01-03', 0, '0'],
    ];
    expect(await daysOf()).toEqual(days);
    // Which PostgreSQL would refuse without a replica identity.
    await api.sql('create publication everything for all tables');
    await fold();
    expect(await daysOf()).toEqual(days);
    await api.sql('drop publication everything');
  });

  it('A day that the interval cuts counts as a whole, and an empty interval has none', async () => {
    await use('2040-01-02T01:00Z');
    await use('2040-01-03T23:00Z');
    const cut = { from: '2040-01-02T12:00Z', until: '2040-01-03T00:00:00.001Z' };
    expect(await daysOf(cut)).toEqual([
      ['2040-01-02', 1, '1.5'],
      ['2040-01-03', 1, '1.5'],
    ]);
    expect(await daysOf({ ...cut, until: '2040-01-03T00:00Z' })).toEqual([['2040-01-02', 1, '1.5']]);
    for (const until of [week.from, '2039-01-01']) expect(await daysOf({ until })).toEqual([]);
  });

  it('Days are those of the time zone, by quarters of an hour, also where the clock is changed', async () => {
    await use('2040-03-24T23:00Z');
    await use('2040-03-25T21:59:59Z');
    await use('2040-03-25T22:00Z');
    await fold();
    const asked = { from: '2040-03-24T23:00Z', until: '2040-03-25T22:00Z' };
    expect(await daysOf({ ...asked, timeZone: 'europe/berlin' })).toEqual([['2040-03-25', 2, '3']]);
    await use('2040-01-02T18:14:59Z');
    await use('2040-01-02T18:15:00Z');
    await fold();
    const nepal = { from: '2040-01-02T18:15Z', until: '2040-01-02T18:16Z', timeZone: 'Asia/Kathmandu' };
    expect(await daysOf(nepal)).toEqual([['2040-01-03', 1, '1.5']]);
  });

  it.each(['+05:30', 'EST5EDT4', 'Mars/Olympus', '<+03>-3'])('The time zone %s is refused', async (timeZone) => {
    await expectInvalidField(overview({ timeZone }), 'time_zone');
  });

  it('An interval has parts of 92 days at most, in the time zone', async () => {
    const [first, ...more] = await daysOf({ from: '2040-01-01', until: '2040-04-02' });
    expect([first?.[0], more.length, more.at(-1)?.[0]]).toEqual(['2040-01-01', 91, '2040-04-01']);
    await expectInvalidField(overview({ from: '2040-01-01', until: '2040-04-02T00:00:00.001Z' }), 'until');
    // In autumn, 92 days have an hour more.
    const autumn = { from: '2039-08-31T22:00Z', until: '2039-12-01T23:00Z', timeZone: 'Europe/Berlin' };
    expect(await daysOf(autumn)).toHaveLength(92);
    await expectInvalidField(overview({ from: '0001-01-01', until: '9999-12-31' }), 'until');
  });

  it.each(['', 'soon', '2040-02-30'])('The date "%s" is refused', async (date) => {
    await expectInvalidField(overview({ from: date }), 'from');
    await expectInvalidField(overview({ until: date }), 'until');
  });

  it('It is for staff', async () => {
    await expectError(api.guest.getOverview(week), 'ACCESS_DENIED');
  });

  it('A use counts from Redeem or Confirm on until it is released, a hold never', async () => {
    const { code } = await addCouponOf(api.sql);
    const { redemption: held } = await api.guest.redeem({ ...newOrder(), code });
    expect(await ofToday()).toEqual([0, '0']);
    await api.guest.confirm({ redemptionId: held?.id ?? 0 });
    const { redemption: used } = await api.guest.redeem({ ...newOrder(), code, holdSeconds: 0 });
    expect(await ofToday()).toEqual([2, '40']);
    await fold();
    await api.guest.release({ redemptionId: used?.id ?? 0 });
    expect(await ofToday()).toEqual([1, '20']);
  });

  it('Redemptions that are changed, deleted or truncated by hand count as they are', async () => {
    await use('2040-01-02T01:00Z');
    await use('2040-01-02T02:00Z');
    await fold();
    await api.sql(
      `update redemptions set discount_amount = 4, used_at = '2040-01-03Z' where used_at = '2040-01-02T01:00Z'`,
    );
    await api.sql(`insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at)
      values (1, 1, 'without a time', 10, 1, 'USED', now())`);
    expect(await daysOf()).toEqual([
      ['2040-01-02', 1, '1.5'],
      ['2040-01-03', 1, '4'],
    ]);
    await api.sql(`delete from redemptions where used_at = '2040-01-03Z'`);
    expect((await daysOf())[1]).toEqual(['2040-01-03', 0, '0']);
    await fold();
    await api.sql('truncate redemptions');
    expect((await daysOf())[0]).toEqual(['2040-01-02', 0, '0']);
  });

  it('Coupons of no batch that end within 7 days are listed soonest first', async () => {
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    const ending = async (hours: number, isInvalidated = false) =>
      (await addCouponOf(api.sql, { valid_till: at(hours), is_invalidated: isInvalidated })).id;
    const [late, soon] = [await ending(7 * 24 - 1), await ending(1)];
    await ending(7 * 24 + 1);
    await ending(-1);
    await ending(2, true);
    await addCouponOf(api.sql);
    const batches = createClient(CouponBatchService, api.transportAs('staff'));
    await batches.createBatch({ count: 2, coupon: { discountPercent: 5, isApplyForAll: true, validTill: at(3) } });
    const { ending: found } = await overview();
    expect(found.map(({ id }) => id)).toEqual([soon, late]);
    const coupons = createClient(CouponService, api.transportAs('staff'));
    const { coupon: first } = await coupons.getById({ id: soon });
    expect(found[0]).toMatchObject({ couponCode: first?.couponCode, etag: first?.etag, validTill: first?.validTill });
    await api.sql(`insert into coupons (coupon_code, discount_percent, created_by, valid_till)
      select 'ENDING' || id, 5, 1, now() + interval '1 hour' from generate_series(1, 30) id`);
    expect((await overview()).ending).toHaveLength(20);
  });

  it('Coupons with a tenth of their uses left or less, but one, are listed', async () => {
    const { id, code } = await addCouponOf(api.sql, { max_uses: 20 });
    const fill = (uses: number) =>
      api.sql(
        `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
         select $1, 1, 'f' || n, 10, 1, 'USED', now(), now() from generate_series(1, $2::integer) n`,
        [id, uses],
      );
    const few = async () => (await overview()).nearlyUsedUp.map(({ coupon, usesLeft }) => [coupon?.id, usesLeft]);
    await fill(17);
    expect(await few()).toEqual([]);
    const { redemption } = await api.guest.redeem({ ...newOrder(), code });
    expect(await few()).toEqual([[id, 2]]);
    await api.guest.confirm({ redemptionId: redemption?.id ?? 0 });
    const { redemption: last } = await api.guest.redeem({ ...newOrder(), code });
    expect(await few()).toEqual([[id, 1]]);
    await letRunOut(api.sql, last?.id);
    expect(await few()).toEqual([[id, 2]]);
    await fill(2);
    expect(await few()).toEqual([]);
    await api.sql(`update redemptions set state = 'EXPIRED' where id = $1`, [last?.id]);
    expect(await few()).toEqual([]);
    await api.guest.release({ redemptionId: redemption?.id ?? 0 });
    expect(await few()).toEqual([[id, 1]]);
    await api.sql('delete from redemptions where coupon_id = $1', [id]);
    expect(await few()).toEqual([]);
  });

  it('A coupon is nearly used up by the limit that it has, as long as it is valid', async () => {
    const { id } = await addCouponOf(api.sql, { max_uses: 9 });
    await api.sql(
      `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
       select $1, 1, 'f' || n, 10, 1, 'USED', now(), now() from generate_series(1, 9) n`,
      [id],
    );
    const few = async () => (await overview()).nearlyUsedUp.map(({ coupon, usesLeft }) => [coupon?.id, usesLeft]);
    const set = (columns: string) => api.sql(`update coupons set ${columns} where id = $1`, [id]);
    expect(await few()).toEqual([]);
    await set('max_uses = 10');
    expect(await few()).toEqual([[id, 1]]);
    await set('max_uses = 11');
    expect(await few()).toEqual([]);
    await set('max_uses = 10, is_invalidated = true');
    expect(await few()).toEqual([]);
    await set('is_invalidated = false');
    expect(await few()).toEqual([[id, 1]]);
    await set(`valid_till = now() - interval '1 minute'`);
    expect(await few()).toEqual([]);
    await set('valid_till = null, max_uses = null');
    expect(await few()).toEqual([]);
  });

  it('At most 20 coupons that are nearly used up are listed, those that end first before the others', async () => {
    await api.sql(`insert into coupons (id, coupon_code, discount_percent, created_by, max_uses, valid_till)
      select id, 'FEW' || id, 5, 1, 10, case when id > 1001 then now() + id * interval '1 day' end
      from generate_series(1001, 1030) id`);
    await api.sql(`insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
      select id, 1, 'f', 10, 1, 'USED', now(), now() from generate_series(1001, 1030) id, generate_series(1, 9)`);
    const ids = (await overview()).nearlyUsedUp.map(({ coupon }) => coupon?.id);
    expect(ids).toEqual(Array.from({ length: 20 }, (_id, at) => 1_002 + at));
  });

  it('An order is confirmed while a transaction has used another coupon, and a sweep folds what is committed', async () => {
    const { code } = await addCouponOf(api.sql);
    const { redemption } = await api.guest.redeem({ ...newOrder(), code });
    await fold();
    const using = `insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
      values (1, 1, 'open', 10, 1, 'USED', now(), now())`;
    await holding(api.databaseUrl, using, async (lock) => {
      await api.guest.confirm({ redemptionId: redemption?.id ?? 0 });
      await fold();
      expect(await ofToday()).toEqual([1, '20']);
      await lock.release('commit');
    });
    expect(await ofToday()).toEqual([2, '21']);
  });
});
