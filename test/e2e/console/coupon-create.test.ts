import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { choose, deleteCoupons, insertCoupon, overflow, problemAt, readCoupons } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('A new coupon', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  const open = async (width = 1_280) => {
    tab = await stage.openTab({ path: '/coupons/new', viewport: { width, height: 740 } });
    await tab.heading('New coupon').waitFor();
  };

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  it.each(['/coupons/new', '/slots/new'])(
    'The form of %s ends with its content: the page does not scroll into nothing',
    async (path) => {
      tab = await stage.openTab({ path, viewport: { width: 1_280, height: 800 } });
      await tab.page.getByRole('grid', { name: 'Products: found' }).getByRole('row').nth(10).waitFor();
      const beyond =
        'document.documentElement.scrollHeight - document.querySelector("main").getBoundingClientRect().bottom - scrollY';
      expect(await tab.page.evaluate<number>(beyond)).toBeLessThan(50);
    },
  );

  it('Staff create a coupon for everyone with all its terms, and come to its page', async () => {
    await open();
    await tab.field('Code').fill('SPRING');
    await choose(tab, 'For whom', 'Everyone');
    await tab.field('Percent off').fill('12.5');
    await tab.field('Largest discount').fill('150');
    await tab.field('Smallest order').fill('500');
    await tab.field('Valid until').fill('2099-01-02T10:30');
    await tab.field('Uses for each user').fill('2');
    await tab.page.getByText('Not with other coupons').click();
    await tab.button('Create coupon').click();
    await tab.notice('Coupon SPRING created').waitFor();
    await tab.heading('Coupon SPRING').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([
      {
        coupon_code: 'SPRING',
        discount_percent: '12.5',
        flat_discount: null,
        max_value: '150',
        min_order: '500',
        valid_till: new Date('2099-01-02T05:00:00Z'),
        max_limit_for_user: 2,
        exclusive_apply: true,
        is_apply_for_all: true,
        is_user_based: false,
        users: [],
        products: [],
        created_by: 1,
      },
    ]);
  });

  it('Staff who leave the code out get a coupon with a code that is made', async () => {
    await open();
    await choose(tab, 'Kind of discount', 'Amount');
    await tab.field('Amount off').fill('80');
    await tab.button('Create coupon').click();
    // It is for nobody.
    await tab.button('Create coupon all the same').click();
    await tab.heading(/^Coupon DC/).waitFor();
    const [coupon] = await readCoupons(stage.coupon);
    expect(coupon).toMatchObject({ flat_discount: '80', discount_percent: null, valid_till: null });
  });

  it('Staff choose by name who may use it and for which products', async () => {
    await open();
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Chosen users');
    await tab.pick('Users', 'User 4', 'User 2');
    await tab.pick('Products', 'Product 7');
    await tab.button('Create coupon').click();
    await tab.section('Users').getByText('User 4, 9000000004').waitFor();
    await tab.section('Products').getByText('Product 7').waitFor();
    const [coupon] = await readCoupons(stage.coupon);
    expect(coupon).toMatchObject({ is_user_based: true, is_apply_for_all: false, users: [2, 4], products: [7] });
  });

  it('Enter in the search for users takes the only one found, and does not create the coupon', async () => {
    await open();
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Chosen users');
    const users = tab.page.getByRole('group', { name: 'Users', exact: true });
    await users.getByRole('searchbox').fill('User 5');
    await users.getByRole('row', { name: 'User 1', exact: true }).waitFor({ state: 'detached' });
    await users.getByRole('searchbox').press('Enter');
    await tab.button('Remove User 5').waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.button('Create coupon').click();
    await tab.heading(/^Coupon DC/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ users: [5] }]);
  });

  it('Enter that comes before the users are found takes the only one, and not one of an earlier search', async () => {
    await open();
    await choose(tab, 'For whom', 'Chosen users');
    const search = tab.page.getByRole('group', { name: 'Users', exact: true }).getByRole('searchbox');
    await search.fill('User 4');
    await search.press('Enter');
    await tab.button('Remove User 4').waitFor();
    await search.fill('User 5');
    await search.press('Enter');
    await tab.button('Remove User 5').waitFor();
    await search.fill('User 4');
    await tab.page.getByRole('row', { name: 'User 4', exact: true }).first().waitFor();
    await search.fill('User 2');
    await search.press('Enter');
    await tab.button('Remove User 2').waitFor();
    expect(await tab.button(/^Remove User/).count()).toBe(3);
  });

  it('A double click creates one coupon', async () => {
    await open();
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Everyone');
    await tab.button('Create coupon').dblclick();
    await tab.heading(/^Coupon DC/).waitFor();
    expect(await readCoupons(stage.coupon)).toHaveLength(1);
  });

  it('The problems of the service stand at their fields, and go once they are mended', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'TAKEN' });
    await open();
    await tab.field('Code').fill('TAKEN');
    await tab.button('Create coupon').click();
    await problemAt(tab, 'Percent off', 'Enter a percentage, such as 10.').waitFor();
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Chosen users');
    await tab.button('Create coupon').click();
    const users = tab.page.getByRole('group', { name: 'Users', exact: true });
    await users.getByText('Choose at least one user.').waitFor();
    await tab.pick('Users', 'User 1');
    await tab.button('Create coupon').click();
    await problemAt(tab, 'Code', 'Coupon code already exists').waitFor();
    await tab.field('Code').fill('FREE');
    await tab.button('Create coupon').click();
    await tab.heading('Coupon FREE').waitFor();
    expect(await readCoupons(stage.coupon)).toHaveLength(2);
  });

  it('What is no number is told at its field before anything is sent', async () => {
    await open();
    await tab.field('Percent off').fill('ten');
    await tab.button('Create coupon').click();
    await problemAt(tab, 'Percent off', 'Enter a number, such as 150 or 99.5.').waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });

  it('Staff are asked before they leave what they have not saved', async () => {
    await open();
    await tab.field('Code').fill('HALF');
    await tab.link('Users').click();
    await tab.heading('Leave without saving?').waitFor();
    await tab.button('Stay here').click();
    expect(await tab.field('Code').inputValue()).toBe('HALF');
  });

  it('Staff are asked before they sign out of what they have not saved, and only then', async () => {
    await open();
    await tab.field('Code').fill('HALF');
    await tab.button('Sign out').click();
    await tab.heading('Leave without saving?').waitFor();
    await tab.button('Stay here').click();
    expect(await tab.field('Code').inputValue()).toBe('HALF');
    await tab.field('Code').fill('');
    await tab.button('Sign out').click();
    await tab.field('Token').waitFor();
  });

  it('On a phone the whole form can be seen and sent', async () => {
    await open(360);
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Chosen users');
    await tab.pick('Users', 'User 5');
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
    await tab.button('Create coupon').click();
    await tab.heading(/^Coupon DC/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ users: [5] }]);
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
  });
});
