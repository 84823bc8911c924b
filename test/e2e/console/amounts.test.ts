import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, problemAt } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The amounts of the checker', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open({ BUSINESS_CURRENCY: 'INR' });
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  const answer = () => tab.page.getByRole('status', { name: 'Answer' });

  async function check(code: string, amount: string): Promise<void> {
    await tab.field('Code').fill(code);
    await tab.field('Order amount').fill(amount);
    await tab.button('Check').click();
  }

  it('The verdict belongs to what stands in the fields', async () => {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '100');
    await answer().getByText('Can be used').waitFor();
    await tab.field('Code').fill('SAVE1');
    expect(await answer().count()).toBe(0);
    await tab.field('Code').fill('SAVE10');
    await answer().waitFor();
    await tab.field('Order amount').fill('1,500');
    await tab.button('Check').click();
    await problemAt(tab, 'Order amount', 'Write 1500 without a comma, or 1.500 with a point.').waitFor();
    expect(await answer().count()).toBe(0);
    await check('SAVE10', '1500,50');
    await answer().getByText('₹150.05', { exact: true }).waitFor();
  });

  it.each([
    ['100.05', '₹10.01', '₹90.04'],
    ['999.999', '₹100.000', '₹899.999'],
  ])('The discount of %s and what the order then costs add up', async (amount, discount, rest) => {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', amount);
    const shown = async () => (await answer().getByRole('definition').allInnerTexts()).slice(0, 2);
    await expect.poll(shown).toEqual([discount, rest].map((text) => text.replace(/(\.\d\d)0+$/, '$1')));
  });

  it('What an order lacks is told exactly', async () => {
    await insertCoupon(stage.coupon, { min_order: 1_000 });
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '999.999');
    await answer().getByText('The order has to come to ₹1,000.00: ₹0.001 more.').waitFor();
  });

  it('A discount that is more than the order is told', async () => {
    await insertCoupon(stage.coupon, { discount_percent: null, flat_discount: 150 });
    tab = await stage.openTab({ path: '/check' });
    await check(' save10 ', '100');
    await answer().getByText('The discount is more than the order.').waitFor();
  });

  it('The code of a link is asked for as it stands', async () => {
    await insertCoupon(stage.coupon, { coupon_code: ' ANN1' });
    tab = await stage.openTab({ path: '/check?code=%20ANN1' });
    await tab.field('Order amount').fill('100');
    await tab.button('Check').click();
    await answer().getByText('Can be used').waitFor();
  });

  it('The terms of a coupon have the currency, on its page and in the list', async () => {
    const id = await insertCoupon(stage.coupon, { max_value: 150, min_order: 1896.8 });
    tab = await stage.openTab({ path: `/coupons/${id}` });
    await tab.page.getByText('10 % off, at most ₹150.00').waitFor();
    await tab.link('Coupons').click();
    await tab.page.getByRole('cell', { name: '₹1,896.80' }).waitFor();
  });
});
