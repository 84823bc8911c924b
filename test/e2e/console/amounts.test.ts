import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { choose, deleteCoupons, insertCoupon, problemAt, readCoupons, row } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The verdict of the checker', () => {
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

  const answer = () => tab.page.getByRole('status', { name: 'Answer' });
  /** The discount, and what the order then costs. */
  const amounts = async () => (await answer().getByRole('definition').allInnerTexts()).slice(0, 2);

  async function check(code: string, amount: string): Promise<void> {
    await tab.field('Code').fill(code);
    await tab.field('Order amount').fill(amount);
    await tab.button('Check').click();
  }

  /** Opens the checker with the answer for SAVE10, 10 % off, and an order of 100. */
  async function openChecked(): Promise<void> {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '100');
    await answer().getByText('Can be used').waitFor();
  }

  it('It goes as soon as another code is entered, and comes for that code when it is checked', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'HALF', discount_percent: 50 });
    await openChecked();
    await tab.field('Code').fill('HALF');
    expect(await answer().count()).toBe(0);
    await tab.button('Check').click();
    await expect.poll(amounts).toEqual(['50.00', '50.00']);
  });

  it('It goes as soon as another amount is entered, and comes for that amount when it is checked', async () => {
    await openChecked();
    await tab.field('Order amount').fill('200');
    expect(await answer().count()).toBe(0);
    await tab.button('Check').click();
    await expect.poll(amounts).toEqual(['20.00', '180.00']);
  });

  it('It comes back when what was checked stands in the fields again', async () => {
    await openChecked();
    await tab.field('Code').fill('SAVE1');
    expect(await answer().count()).toBe(0);
    await tab.field('Code').fill('SAVE10');
    await answer().getByText('Can be used').waitFor();
  });

  it('It is not shown for a code that was typed before it arrived', async () => {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    let release = () => {};
    const typed = new Promise<void>((resolve) => {
      release = resolve;
    });
    await tab.page.route(/CouponService\/Validate/, async (route) => {
      await typed;
      await route.continue();
    });
    await check('SAVE10', '100');
    await tab.button('Checking…').waitFor();
    await tab.field('Code').fill('HALF');
    release();
    await tab.button('Check').waitFor();
    expect(await answer().count()).toBe(0);
  });

  it('A comma before the cents of an amount is read as people mean it', async () => {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '1500,50');
    await expect.poll(amounts).toEqual(['150.05', '1,350.45']);
  });

  it.each(['1,500', '1.500'])(
    'An amount that may mean either of two (%s) is refused with both, and without a verdict below',
    async (text) => {
      await openChecked();
      await tab.field('Order amount').fill(text);
      await tab.button('Check').click();
      await problemAt(tab, 'Order amount', 'Write 1500 or 1.5: this may mean either.').waitFor();
      expect(await answer().count()).toBe(0);
    },
  );

  it.each([
    ['100.05', '10.01', '90.04'],
    ['33.33', '3.33', '30.00'],
    ['999.999', '100.00', '899.999'],
  ])('Of an order of %s, the discount and the rest add up to the order', async (amount, discount, rest) => {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', amount);
    await expect.poll(amounts).toEqual([discount, rest]);
  });

  it('What an order lacks is told to its last digit', async () => {
    await insertCoupon(stage.coupon, { min_order: 1_000 });
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '999.999');
    await answer().getByText('The order has to come to 1,000.00: 0.001 more.').waitFor();
  });

  it('A discount that is more than the order is told', async () => {
    await insertCoupon(stage.coupon, { discount_percent: null, flat_discount: 150 });
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '100');
    await answer().getByText('The discount is more than the order.').waitFor();
    expect(await amounts()).toEqual(['150.00', '0.00']);
  });

  it('The code of a link is asked for as it stands, and a typed one without the white space at its ends', async () => {
    await insertCoupon(stage.coupon, { coupon_code: ' ANN1', discount_percent: 20 });
    await insertCoupon(stage.coupon, { coupon_code: 'ANN1', discount_percent: 30 });
    tab = await stage.openTab({ path: '/check?code=%20ANN1' });
    await tab.field('Order amount').fill('100');
    await tab.button('Check').click();
    await expect.poll(amounts).toEqual(['20.00', '80.00']);
    await check(' ANN1 ', '100');
    await expect.poll(amounts).toEqual(['30.00', '70.00']);
  });

  it('An amount with a comma is accepted in the form of a coupon, and stored as it was meant', async () => {
    tab = await stage.openTab({ path: '/coupons/new' });
    await choose(tab, 'For whom', 'Everyone');
    await tab.field('Percent off').fill('12,5');
    await tab.field('Smallest order').fill('15,5');
    await tab.button('Create coupon').click();
    await tab.heading(/^Coupon DC/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '12.5', min_order: '15.5' }]);
  });
});

for (const [title, variables, sign] of [
  ['The amounts of a business with a currency', { BUSINESS_CURRENCY: 'INR' }, '₹'],
  ['The amounts of a business without a currency', {}, ''],
] as const) {
  describeInBrowser(title, () => {
    let stage: ConsoleStage;
    let tab: ConsoleTab;

    const terms = { discount_percent: null, flat_discount: 150, min_order: 1896.8 };

    beforeAll(async () => {
      stage = await ConsoleStage.open(variables);
      await stage.coupon.database.sql('insert into orders (id, user_id, total_amount) values (42, 2, 1896.8)');
      await stage.coupon.database.sql('insert into order_statuses (order_id) values (42)');
    });

    afterEach(async () => {
      await tab.close();
      await deleteCoupons(stage.coupon);
    });

    afterAll(() => stage.close());

    it('They have two digits on the page of a coupon', async () => {
      const id = await insertCoupon(stage.coupon, terms);
      tab = await stage.openTab({ path: `/coupons/${id}` });
      await tab.section('Terms').getByText(`${sign}150.00 off`, { exact: true }).waitFor();
      await tab.section('Terms').getByText(`${sign}1,896.80`, { exact: true }).waitFor();
    });

    it('They have two digits in the list of coupons', async () => {
      await insertCoupon(stage.coupon, terms);
      tab = await stage.openTab({ path: '/coupons' });
      const cells = async () => (await row(tab, 'SAVE10').getByRole('cell').allInnerTexts()).slice(0, 2);
      await expect.poll(cells).toEqual([`${sign}150.00 off`, `${sign}1,896.80`]);
    });

    it('They have two digits in the checker', async () => {
      await insertCoupon(stage.coupon, terms);
      tab = await stage.openTab({ path: '/check' });
      await tab.field('Code').fill('SAVE10');
      await tab.field('Order amount').fill('2000');
      await tab.button('Check').click();
      const facts = tab.page.getByRole('status', { name: 'Answer' }).getByRole('definition');
      const shown = [`${sign}150.00`, `${sign}1,850.00`, `${sign}150.00 off`];
      await expect.poll(() => facts.allInnerTexts()).toEqual(shown);
    });

    it('They have two digits in the refund of an order, before and after it is made', async () => {
      tab = await stage.openTab({ path: '/coupons/refund' });
      await tab.field('Order number').fill('42');
      await tab.button('Show the order').click();
      await tab.page.getByText(`${sign}1,896.80`, { exact: true }).waitFor();
      await tab.button('Create refund coupon').click();
      const words = `${sign}1,896.80 off, for one order from ${sign}1,896.80 on, until`;
      await tab.page.getByRole('status', { name: 'The refund coupon' }).getByText(words).waitFor();
    });

    it('They have two digits in the coupon for a mobile number, before and after it is made', async () => {
      tab = await stage.openTab({ path: '/coupons/phone' });
      await tab.page.getByText(`from ${sign}1,000.00 on, at most ${sign}500.00.`).waitFor();
      await tab.field('Mobile number').fill('9000000002');
      await tab.button('Create coupon').click();
      const words = `20 % off, at most ${sign}500.00, for one order from ${sign}1,000.00 on.`;
      await tab.page.getByText(words, { exact: true }).waitFor();
    });
  });
}
