import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { choose, deleteCoupons, insertCoupon, problemAt, readCoupons } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('What looks like a mistake in a coupon', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  /** Opens the form of a new coupon for everyone, 10 % off. */
  async function open(): Promise<void> {
    tab = await stage.openTab({ path: '/coupons/new' });
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Everyone');
  }

  it('A code is written in capital letters, says so, and is then found by the checker', async () => {
    await open();
    await tab.page.getByText(/In capital letters: a code is looked up in capital letters/).waitFor();
    await tab.field('Code').pressSequentially('summer26');
    expect(await tab.field('Code').inputValue()).toBe('SUMMER26');
    await tab.button('Create coupon').click();
    await tab.link('Check it').click();
    await tab.field('Order amount').fill('100');
    await tab.button('Check').click();
    await tab.page.getByText('Can be used').waitFor();
  });

  it('A stored code in lower case is said to be of no use to customers', async () => {
    const id = await insertCoupon(stage.coupon, { coupon_code: 'summer26' });
    tab = await stage.openTab({ path: `/coupons/${id}` });
    await tab.page.getByText('Customers can’t use this code').waitFor();
  });

  it.each([
    ['more than the whole order', () => tab.field('Percent off').fill('150'), '150 % is more than the whole order.'],
    [
      'a time that has passed',
      () => tab.field('Valid until').fill('2020-01-01T10:00'),
      /ended already: 1 Jan 2020, 10:00/,
    ],
    ['nobody', () => choose(tab, 'For whom', 'Nobody yet'), /The coupon is for nobody/],
  ])('%s is asked about before it is saved', async (_what, enter, sentence) => {
    await open();
    await enter();
    await tab.button('Create coupon').click();
    await tab.page.getByRole('alertdialog', { name: 'Is this right?' }).getByText(sentence).waitFor();
    await tab.button('Correct it').click();
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.button('Create coupon').click();
    await tab.button('Create coupon all the same').click();
    await tab.heading(/^Coupon DC/).waitFor();
  });

  it('A stored coupon that is to take nothing off is asked about', async () => {
    const id = await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: `/coupons/${id}/edit` });
    await tab.field('Percent off').fill('0');
    await tab.button('Save').click();
    await tab.page.getByText('The coupon takes nothing off an order.').waitFor();
    await tab.button('Save all the same').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
  });

  it('In a stored coupon only what is changed is asked about, or checked', async () => {
    await stage.coupon.database.sql('alter table coupons drop constraint if exists coupons_sound');
    const id = await insertCoupon(stage.coupon, { discount_percent: 150, max_limit_for_user: -1 });
    tab = await stage.openTab({ path: `/coupons/${id}/edit` });
    await tab.field('Smallest order').fill('15,5');
    await tab.button('Save').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '15.5', max_limit_for_user: -1 }]);
  });

  it('A code with a character that nobody can see is refused, and the character is named', async () => {
    await open();
    await tab.field('Code').fill('SPRING\u200b26');
    await tab.button('Create coupon').click();
    const problem = 'The code has an invisible character (U+200B) after “SPRING”. Remove it, or type the code anew.';
    await problemAt(tab, 'Code', problem).waitFor();
    await tab.field('Code').fill(' SPRING26 ');
    await tab.button('Create coupon').click();
    await tab.heading('Coupon SPRING26').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ coupon_code: 'SPRING26' }]);
  });

  it('An amount that was left out is asked for in plain words', async () => {
    tab = await stage.openTab({ path: '/coupons/new' });
    await choose(tab, 'Kind of discount', 'Amount');
    await tab.button('Create coupon').click();
    await problemAt(tab, 'Amount off', 'Enter an amount, such as 50.').waitFor();
  });

  it('A coupon is duplicated with its terms and users, and without its code', async () => {
    const id = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true, min_order: 500 });
    await stage.coupon.database.sql(`insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2)`);
    tab = await stage.openTab({ path: `/coupons/${id}` });
    await tab.link('Duplicate').click();
    await tab.heading('New coupon, as SAVE10').waitFor();
    expect(await tab.field('Code').inputValue()).toBe('');
    await tab.button('Create coupon').click();
    await tab.heading(/^Coupon DC/).waitFor();
    const [, copy] = await readCoupons(stage.coupon);
    expect(copy).toMatchObject({ discount_percent: '10', min_order: '500', users: [2] });
  });
});
