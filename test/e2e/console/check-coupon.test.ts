import { afterEach, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { alterAnswer } from './altered-answer.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, problemAt, row } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

const answerOf = (tab: ConsoleTab) => tab.page.getByRole('status', { name: 'Answer' });

async function check(tab: ConsoleTab, code: string, amount: string): Promise<void> {
  await tab.fill({ Code: code, 'Order amount': amount });
  await tab.press('Enter');
}

describeConsole('The check of a coupon', (stage, tab) => {
  afterEach(() => deleteCoupons(stage.coupon));

  const answer = () => answerOf(tab);
  /** The discount, and what the order then costs. */
  const amounts = async () => (await answer().getByRole('definition').allInnerTexts()).slice(0, 2);
  it('Staff see the discount, also one that is more than the order, and what the order then costs, and come to the coupon', async () => {
    await insertCoupon(stage.coupon, { discount_percent: 33.3, max_value: 40 });
    await insertCoupon(stage.coupon, { coupon_code: 'FLAT', discount_percent: null, flat_discount: 150 });
    await tab.open('/check');
    await check(tab, 'flat', '100');
    await answer().getByText('The discount is more than the order.').waitFor();
    expect(await amounts()).toEqual(['150.00', '0.00']);
    await check(tab, 'save10', '99.99');
    await expect.poll(amounts).toEqual(['33.30', '66.69']);
    await answer().getByText('Can be used').waitFor();
    await answer().getByText('33.3 % off, at most 40.00').waitFor();
    await tab.follow('Open coupon SAVE10', /^Coupon SAVE10/);
  });

  it('The verdict goes as soon as another code or amount is entered, and comes back for what is checked', async () => {
    await insertCoupon(stage.coupon);
    await insertCoupon(stage.coupon, { coupon_code: 'HALF', discount_percent: 50 });
    await tab.open('/check');
    await check(tab, 'SAVE10', '100');
    await expect.poll(amounts).toEqual(['10.00', '90.00']);
    await tab.field('Code').fill('HALF');
    expect(await answer().count()).toBe(0);
    await tab.click('Check');
    await expect.poll(amounts).toEqual(['50.00', '50.00']);
    await tab.field('Order amount').fill('200');
    expect(await answer().count()).toBe(0);
    await tab.field('Order amount').fill('100');
    await expect.poll(amounts).toEqual(['50.00', '50.00']);
  });

  it('The verdict is not shown for a code that was typed before it arrived', async () => {
    await insertCoupon(stage.coupon);
    await tab.open('/check');
    const release = await tab.hold(/CouponService\/Validate/);
    await check(tab, 'SAVE10', '100');
    await tab.button('Checking…').waitFor();
    await tab.field('Code').fill('HALF');
    release();
    await tab.button('Check').waitFor();
    expect(await answer().count()).toBe(0);
  });

  it('An amount that may mean either of two is refused at its field, without a verdict below, and a left-out code is told', async () => {
    await insertCoupon(stage.coupon);
    await tab.open('/check');
    await check(tab, 'SAVE10', '1500,50');
    await expect.poll(amounts).toEqual(['150.05', '1,350.45']);
    await check(tab, 'SAVE10', '1,500');
    await problemAt(tab, 'Order amount', 'Write 1500 or 1.5: this may mean either.').waitFor();
    expect(await answer().count()).toBe(0);
    await check(tab, '', '100');
    await answer().getByText('Invalid coupon code').waitFor();
  });

  it('The users and products that a coupon is for, by links and by list, are named: the check knows neither of an order', async () => {
    const id = await insertCoupon(stage.coupon, {
      ...{ is_apply_for_all: false, is_user_based: true, product_ids: '{9}' },
    });
    await stage.sql(
      `insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2);
       insert into coupon_applicable_products (coupon_id, product_id) select ${id}, n from generate_series(1, 6) n`,
    );
    await tab.open('/check');
    await check(tab, 'SAVE10', '100');
    await answer().getByText('Only for these users, which is not checked here: User 2, 9000000002.').waitFor();
    await answer()
      .getByText(/^Only for these products, which is not checked here: (Product \d; ){4}Product 5 and 2 more\.$/)
      .waitFor();
  });

  it('The limits of a coupon that the check can’t judge are named, and the same check again reads the coupon again', async () => {
    const id = await insertCoupon(stage.coupon);
    await tab.open(`/coupons/${id}`);
    await tab.link('Check it').click();
    await check(tab, 'SAVE10', '100');
    await tab.link('Open coupon SAVE10').waitFor();
    const unchecked = answer().getByText(/checked here/);
    expect(await unchecked.count()).toBe(0);
    for (const [uses, exclusive, words] of [
      [1, false, 'Once for each user, which is not checked here.'],
      [3, false, '3 times for each user, which is not checked here.'],
      [0, true, 'Not with other coupons, which is not checked here.'],
      [1, true, 'Once for each user, and not with other coupons: neither is checked here.'],
    ] as const) {
      await stage.sql('update coupons set max_limit_for_user = $1, exclusive_apply = $2', [uses, exclusive]);
      await tab.click('Check');
      await expect.poll(() => unchecked.allInnerTexts()).toEqual([words]);
    }
  });

  it('A coupon whose only user was deleted can’t be used', async () => {
    const id = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true });
    await stage.sql(`insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2)`);
    await tab.open('/check');
    await alterAnswer(tab, CouponService.method.getById, ({ coupon }) => {
      for (const user of coupon?.applicableUsers ?? []) Object.assign(user, { name: undefined, mobile: '' });
    });
    await check(tab, 'SAVE10', '100');
    await answer().getByText('For nobody: no one can redeem it').waitFor();
    expect(await answer().getByText('Can be used').count()).toBe(0);
  });

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['whose time has passed', { valid_till: '2001-01-01' }, 'Coupon has expired', /has passed/],
    ['that is for nobody', { is_apply_for_all: false }, 'Coupon is not available for use', /for nobody yet/],
    ['that was invalidated', { is_invalidated: true }, 'Coupon not found or invalidated', /or it was invalidated/],
    ['for larger orders', { min_order: 500 }, 'Minimum order amount is 500', /has to come to 500.00: 0.001 more/],
  ])(
    'A coupon %s is refused in the words of the service and in plain ones',
    async (_which, columns, message, words) => {
      await insertCoupon(stage.coupon, columns);
      await tab.open('/check');
      await check(tab, 'SAVE10', '499.999');
      await answer().getByText(message, { exact: true }).waitFor();
      await answer().getByText(words).waitFor();
      await tab.link('Look for SAVE10 among the coupons').click();
      await tab.link('SAVE10').waitFor();
    },
  );
});

describeConsole(
  'The amounts of a business with a currency',
  (stage, tab) => {
    it('Amounts have its sign and two digits in the list, on the coupon, in the checker, a refund and a coupon by phone', async () => {
      await stage.sql(
        `insert into orders (id, user_id, total_amount) values (42, 2, 1896.8);
         insert into order_statuses (order_id) values (42)`,
      );
      await insertCoupon(stage.coupon, { discount_percent: null, flat_discount: 150, min_order: 1896.8 });
      await tab.open('/coupons');
      const cells = async () => (await row(tab, 'SAVE10').getByRole('cell').allInnerTexts()).slice(0, 2);
      await expect.poll(cells).toEqual(['₹150.00 off', '₹1,896.80']);
      await tab.link('SAVE10').click();
      for (const text of ['₹150.00 off', '₹1,896.80']) await tab.section('Terms').getByText(text).waitFor();
      await tab.link('Check it').click();
      await check(tab, 'SAVE10', '2000');
      const facts = answerOf(tab).getByRole('definition');
      await expect.poll(() => facts.allInnerTexts()).toEqual(['₹150.00', '₹1,850.00', '₹150.00 off']);
      await tab.page.goto(`${stage.origin}/coupons/refund?order=42`);
      await tab.click('Show the order', tab.exactly('₹1,896.80'));
      await tab.click('Create refund coupon');
      await tab.text('₹1,896.80 off, for one order from ₹1,896.80 on, until').waitFor();
      await tab.page.goto(`${stage.origin}/coupons/phone?mobile=9000000002`);
      await tab.text('from ₹1,000.00 on, at most ₹500.00.').waitFor();
      await tab.click('Create coupon');
      await tab.exactly('20 % off, at most ₹500.00, for one order from ₹1,000.00 on.').waitFor();
    });
  },
  { BUSINESS_CURRENCY: 'INR' },
);
