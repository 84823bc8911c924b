import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, overflow, row } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The list of coupons', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  const insertMany = (count: number) =>
    stage.coupon.database.sql(
      `insert into coupons (coupon_code, flat_discount, is_apply_for_all, created_by, created_at)
       select 'MANY' || n, 50, true, 1, now() - n * interval '1 minute' from generate_series(1, ${count}) n`,
    );

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  it('Each coupon tells what it gives, from which amount, until when, to whom, and whether it can be used', async () => {
    const id = await insertCoupon(stage.coupon, {
      coupon_code: 'CHOSEN',
      is_apply_for_all: false,
      is_user_based: true,
      max_value: 150,
      min_order: 500,
      valid_till: '2099-01-02T05:00:00Z',
    });
    await stage.coupon.database.sql(
      `insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 1), (${id}, 2)`,
    );
    await insertCoupon(stage.coupon, { coupon_code: 'OVER', valid_till: '2001-01-01T00:00:00Z' });
    const nobody = { coupon_code: 'GONE', discount_percent: null, flat_discount: 150, is_apply_for_all: false };
    await insertCoupon(stage.coupon, { ...nobody, is_invalidated: true });
    tab = await stage.openTab({ path: '/coupons' });
    const cells = async (code: string) => (await row(tab, code).getByRole('cell').allInnerTexts()).slice(0, 5);
    await row(tab, 'CHOSEN').waitFor();
    expect(await cells('CHOSEN')).toEqual([
      '10 % off, at most 150.00',
      '500.00',
      '2 Jan 2099, 10:30',
      '2 users',
      'Valid',
    ]);
    expect(await cells('OVER')).toEqual(['10 % off', 'Any order', '1 Jan 2001, 05:30', 'Everyone', 'Expired']);
    expect(await cells('GONE')).toEqual(['150.00 off', 'Any order', 'No end', 'Nobody', 'Invalidated']);
    await tab.link('CHOSEN').click();
    await tab.heading('Coupon CHOSEN').waitFor();
  });

  it('The list goes on when staff come to its end, and leaves out nothing', async () => {
    await insertMany(120);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    const rows = tab.page.getByRole('rowheader');
    await expect
      .poll(async () => {
        await rows.last().scrollIntoViewIfNeeded();
        return rows.count();
      })
      .toBe(120);
    expect(new Set(await rows.allInnerTexts()).size).toBe(120);
    await tab.button('Show more').waitFor({ state: 'detached' });
  });

  it('A part of the list that is refused is asked for again only when staff say so', async () => {
    await insertMany(60);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    let asked = 0;
    await tab.page.route(/CouponService\/GetAll/, (route) => {
      asked += 1;
      return route.fulfill({ status: 500, headers: { 'access-control-allow-origin': '*' } });
    });
    await tab.page.getByRole('rowheader').last().scrollIntoViewIfNeeded();
    await tab.page.getByText('Something went wrong in the service').waitFor();
    await tab.link('Check a coupon').click();
    await tab.heading('Check a coupon').waitFor();
    expect(asked).toBe(1);
  });

  it('A search as staff type keeps the focus, shows what was typed last, and stands in the address', async () => {
    await insertMany(30);
    tab = await stage.openTab({ path: '/coupons' });
    const field = tab.field('Search by code');
    await field.pressSequentially('many1');
    await field.pressSequentially('2');
    await expect.poll(() => tab.page.getByRole('rowheader').allInnerTexts()).toEqual(['MANY12']);
    expect(new URL(tab.page.url()).search).toBe('?search=many12');
    expect(await field.inputValue()).toBe('many12');
    await tab.page.keyboard.press('Backspace');
    await expect.poll(() => tab.page.getByRole('rowheader').count()).toBe(11);
    await tab.page.reload();
    await expect.poll(() => tab.page.getByRole('rowheader').count()).toBe(11);
    expect(await field.inputValue()).toBe('many1');
    await field.fill('none such');
    await tab.page.getByText('No coupon matches.').waitFor();
  });

  it('The link of the list ends a search', async () => {
    await insertMany(3);
    tab = await stage.openTab({ path: '/coupons?search=MANY2' });
    await expect.poll(() => tab.page.getByRole('rowheader').allInnerTexts()).toEqual(['MANY2']);
    await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Coupons' }).click();
    await expect.poll(() => tab.page.getByRole('rowheader').count()).toBe(3);
    expect(await tab.field('Search by code').inputValue()).toBe('');
    await tab.page.goBack();
    await expect.poll(() => tab.field('Search by code').inputValue()).toBe('MANY2');
  });

  it('On a phone each coupon is a card, and nothing is cut off', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'LONG'.repeat(30), min_order: 500 });
    tab = await stage.openTab({ path: '/coupons', viewport: { width: 360, height: 740 } });
    await tab.page.getByText('10 % off').waitFor();
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
  });
});
