import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { insertCoupon } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The page of a user', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;
  let couponId: number;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    couponId = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true });
    await insertCoupon(stage.coupon, { coupon_code: 'OTHER' });
    await stage.coupon.database.sql(
      `insert into coupon_applicable_users (coupon_id, user_id) values (${couponId}, 2);
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by)
       values ('HUSH1', 'X', 5, 1, 2), ('HUSH2', 'X', 5, 1, null), ('HUSH3', 'X', 5, 1, 4)`,
    );
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  const codes = (section: string) => tab.section(section).getByRole('rowheader').allInnerTexts();

  it('The list of users leads to it', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.link('User 2').click();
    await tab.heading('User 2').waitFor();
  });

  it('The users of a coupon lead to it', async () => {
    tab = await stage.openTab({ path: `/coupons/${couponId}` });
    await tab.section('Users').getByRole('link', { name: 'User 2, 9000000002' }).click();
    await tab.heading('User 2').waitFor();
  });

  it('The search for everything leads to it', async () => {
    tab = await stage.openTab({ path: '/slots' });
    await tab.button(/^Search/).click();
    await tab.page.getByRole('searchbox', { name: 'Search everything' }).fill('user 2');
    await tab.page.getByRole('menuitem', { name: 'User 2 9000000002' }).click();
    await tab.heading('User 2').waitFor();
  });

  it('It tells the name and the mobile number', async () => {
    tab = await stage.openTab({ path: '/users/2' });
    await tab.page.getByRole('heading', { name: 'User 2', level: 1, exact: true }).waitFor();
    await tab.section('User').getByText('9000000002', { exact: true }).waitFor();
  });

  it('It lists the coupons that are for the user, and leads to each', async () => {
    tab = await stage.openTab({ path: '/users/2' });
    await expect.poll(() => codes('Coupons for this user')).toEqual(['SAVE10']);
    await tab.link('SAVE10').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
  });

  it('It lists the reserved coupons that the user has redeemed', async () => {
    tab = await stage.openTab({ path: '/users/2' });
    await expect.poll(() => codes('Reserved coupons redeemed')).toEqual(['HUSH1']);
  });

  it('It says so when there are no coupons', async () => {
    tab = await stage.openTab({ path: '/users/5' });
    await tab.section('Coupons for this user').getByText('No coupon names this user.').waitFor();
    await tab.section('Reserved coupons redeemed').getByText('This user has redeemed no reserved coupon.').waitFor();
  });

  it('“Coupon for this number” opens the form with the number filled in, ready to be sent', async () => {
    tab = await stage.openTab({ path: '/users/4' });
    await tab.link('Coupon for this number').click();
    await tab.heading('Coupon for a mobile number').waitFor();
    expect(await tab.field('Mobile number').inputValue()).toBe('9000000004');
    await tab.button('Create coupon').click();
    await tab.page.getByRole('status', { name: 'The coupon for 9000000004' }).waitFor();
    const given = 'select user_id from coupon_applicable_users where coupon_id <> $1';
    expect(await stage.coupon.database.sql(given, [couponId])).toEqual([{ user_id: 4 }]);
  });

  it('An unknown user is told, and leads to all users', async () => {
    tab = await stage.openTab({ path: '/users/999' });
    await tab.page.getByText('User not found').waitFor();
    await tab.link('All users').click();
    await tab.heading('Users').waitFor();
  });
});
