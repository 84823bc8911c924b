import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, row } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('A list that is filtered, sorted and saved', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  const insertMany = (count: number) =>
    stage.coupon.database.sql(
      `insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by, created_at)
       select 'MANY' || n, 10, true, 1, now() - n * interval '1 minute' from generate_series(1, ${count}) n`,
    );
  const codes = () => tab.page.getByRole('rowheader').allInnerTexts();

  async function filter(label: string, option: string): Promise<void> {
    await tab.page.locator('.field', { hasText: label }).getByRole('button').click();
    await tab.page.getByRole('option', { name: option, exact: true }).click();
  }

  async function saved(): Promise<string> {
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    return readFile(await download.path(), 'utf8');
  }

  it('A filter finds what lies beyond the first pages, and stays in the address', async () => {
    await insertMany(1_200);
    await stage.coupon.database.sql(`update coupons set is_invalidated = true where coupon_code = 'MANY1200'`);
    tab = await stage.openTab({ path: '/coupons' });
    await filter('State', 'Invalidated');
    await expect.poll(codes).toEqual(['MANY1200']);
    expect(new URL(tab.page.url()).search).toBe('?state=Invalidated');
    await tab.page.reload();
    await expect.poll(codes).toEqual(['MANY1200']);
    await tab.link('MANY1200').click();
    await tab.heading('Coupon MANY1200').waitFor();
    await tab.page.goBack();
    await expect.poll(codes).toEqual(['MANY1200']);
  });

  it('While a list is looked through, staff see how far, and can stop', async () => {
    await insertMany(1_200);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    let pages = 0;
    await tab.page.route(/CouponService\/GetAll/, (route) => {
      if (route.request().method() === 'OPTIONS') return route.continue();
      pages += 1;
      return pages === 1 ? route.continue() : undefined;
    });
    await filter('State', 'Expired');
    await tab.page.getByText('1,000 looked through…').waitFor();
    await tab.button('Stop').click();
    await expect.poll(() => tab.page.getByText('looked through').count()).toBe(0);
  });

  it('What ends within a week is found, and the heading sorts by the end', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    for (const days of [5, 2, 20])
      await insertCoupon(stage.coupon, { coupon_code: `IN${days}`, valid_till: inDays(days) });
    await insertCoupon(stage.coupon, { coupon_code: 'NEVER' });
    tab = await stage.openTab({ path: '/coupons' });
    await filter('Ends', 'Within a week');
    await expect.poll(codes).toEqual(['IN2', 'IN5']);
    await tab.button(/^Valid until/).click();
    await tab.button(/^Valid until/).click();
    await expect.poll(codes).toEqual(['IN5', 'IN2']);
    expect(new URL(tab.page.url()).searchParams.get('sort')).toBe('-Valid until');
  });

  it('The coupons of a user are found by the user’s name', async () => {
    await insertMany(3);
    const id = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true });
    await stage.coupon.database.sql(`insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 4)`);
    tab = await stage.openTab({ path: '/coupons' });
    await tab.button('User: any').click();
    await tab.pick('User', 'User 4');
    await expect.poll(codes).toEqual(['SAVE10']);
    expect(new URL(tab.page.url()).search).toBe('?user=4');
    await tab.button('User: User 4').waitFor();
  });

  it('A CSV file has all rows once, across pages, and no formulas', async () => {
    await insertMany(2_300);
    await insertCoupon(stage.coupon, { coupon_code: '=1+1' });
    tab = await stage.openTab({ path: '/coupons' });
    const [heading = '', ...lines] = (await saved()).trimEnd().split('\r\n');
    expect(heading).toContain('Code,Gives,Smallest order');
    expect(lines).toHaveLength(2_301);
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(2_301);
    expect(lines.filter((line) => line.startsWith("'=1+1,"))).toHaveLength(1);
  });

  it('A CSV file has only what the filters leave', async () => {
    await insertMany(60);
    await stage.coupon.database.sql(`update coupons set is_invalidated = true where coupon_code like 'MANY5_'`);
    tab = await stage.openTab({ path: '/coupons?state=Invalidated' });
    expect((await saved()).trimEnd().split('\r\n')).toHaveLength(11);
  });

  it('A CSV file that takes long can be stopped', async () => {
    await insertMany(3);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    await tab.page.route(/CouponService\/GetAll/, () => undefined);
    await tab.button('Save as CSV').click();
    await tab.page.getByText('Reading: 0 rows').waitFor();
    await tab.button('Stop').click();
    await tab.button('Save as CSV').waitFor();
  });

  it('Reserved coupons that nobody has redeemed are found and saved', async () => {
    await stage.coupon.database.sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by)
       select 'HUSH' || n, 'CODE', 50, 1, case when n > 2 then 2 end from generate_series(1, 60) n`,
    );
    tab = await stage.openTab({ path: '/coupons/reserved' });
    await filter('State', 'Not redeemed');
    await expect.poll(async () => (await codes()).toSorted()).toEqual(['HUSH1', 'HUSH2']);
    expect((await saved()).trimEnd().split('\r\n')).toHaveLength(3);
  });
});
