import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { describeInBrowser } from '../browser.ts';
import { alterAnswer } from './altered-answer.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The check of a coupon', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  const answer = () => tab.page.getByRole('status', { name: 'Answer' });

  const check = async (code: string, amount: string) => {
    await tab.field('Code').fill(code);
    await tab.field('Order amount').fill(amount);
    await tab.page.keyboard.press('Enter');
  };

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  it('Staff see the discount and what the order then costs, and come to the coupon', async () => {
    await insertCoupon(stage.coupon, { discount_percent: 33.3, max_value: 40 });
    tab = await stage.openTab({ path: '/check' });
    await check('save10', '99.99');
    await answer().getByText('Can be used').waitFor();
    expect((await answer().innerText()).split('\n')).toEqual(expect.arrayContaining(['33.30', '66.69']));
    await check('save10', '500');
    await answer().getByText('460.00').waitFor();
    await answer().getByText('33.3 % off, at most 40.00').waitFor();
    await tab.link('Open coupon SAVE10').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
  });

  it('The users and products that a coupon is for are named, as the check knows neither of an order', async () => {
    const id = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true });
    await stage.coupon.database.sql(
      `insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2);
       insert into coupon_applicable_products (coupon_id, product_id) select ${id}, n from generate_series(1, 7) n`,
    );
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '100');
    await answer().getByText('Only for these users, which is not checked here: User 2, 9000000002.').waitFor();
    await answer()
      .getByText(/^Only for these products, which is not checked here: (Product \d; ){4}Product 5 and 2 more\.$/)
      .waitFor();
  });

  it('The products of a coupon’s list of ids limit it, as its links do', async () => {
    const id = await insertCoupon(stage.coupon, { product_ids: '{3}' });
    await stage.coupon.database.sql(`insert into coupon_applicable_products (coupon_id, product_id) values (${id}, 5)`);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '100');
    await answer().getByText('Only for these products, which is not checked here: Product 5; Product 3.').waitFor();
  });

  it.each<[Record<string, unknown>, string]>([
    [{ max_limit_for_user: 1 }, 'Once for each user, which is not checked here.'],
    [{ max_limit_for_user: 3 }, '3 times for each user, which is not checked here.'],
    [{ exclusive_apply: true }, 'Not with other coupons, which is not checked here.'],
    [
      { max_limit_for_user: 1, exclusive_apply: true },
      'Once for each user, and not with other coupons: neither is checked here.',
    ],
  ])(
    'The limits of a coupon with %j are named, as the check knows neither users nor other coupons',
    async (columns, words) => {
      await insertCoupon(stage.coupon, columns);
      tab = await stage.openTab({ path: '/check' });
      await check('SAVE10', '100');
      await answer().getByText(words, { exact: true }).waitFor();
    },
  );

  it('A coupon without limits names none', async () => {
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: '/check' });
    await check('SAVE10', '100');
    await tab.link('Open coupon SAVE10').waitFor();
    expect(
      await answer()
        .getByText(/not checked/)
        .count(),
    ).toBe(0);
  });

  it.each(['gone, with its link', 'named by the id alone'])(
    'A coupon whose only user was deleted can’t be used: %s',
    async (form) => {
      const id = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true });
      tab = await stage.openTab({ path: '/check' });
      if (form !== 'gone, with its link') {
        await stage.coupon.database.sql(`insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2)`);
        await alterAnswer(tab, CouponService.method.getById, ({ coupon }) => {
          for (const user of coupon?.applicableUsers ?? []) Object.assign(user, { name: undefined, mobile: '' });
        });
      }
      await check('SAVE10', '100');
      await answer().getByText('For nobody: no one can redeem it').waitFor();
      expect(await answer().getByText('Can be used').count()).toBe(0);
    },
  );

  it.each<[string, Record<string, unknown>, string, RegExp]>([
    ['whose time has passed', { valid_till: '2001-01-01' }, 'Coupon has expired', /has passed/],
    ['that is for nobody', { is_apply_for_all: false }, 'Coupon is not available for use', /for nobody yet/],
    ['that was invalidated', { is_invalidated: true }, 'Coupon not found or invalidated', /or it was invalidated/],
    ['for larger orders', { min_order: 500 }, 'Minimum order amount is 500', /has to come to 500.00: 400.50 more/],
  ])(
    'A coupon %s is refused in the words of the service and in plain ones',
    async (_which, columns, message, words) => {
      await insertCoupon(stage.coupon, columns);
      tab = await stage.openTab({ path: '/check' });
      await check('SAVE10', '99.5');
      await answer().getByText(message, { exact: true }).waitFor();
      await answer().getByText(words).waitFor();
      await tab.link('Look for SAVE10 among the coupons').click();
      await tab.link('SAVE10').waitFor();
    },
  );

  it('A code that was left out is told, and so is an amount that is none', async () => {
    tab = await stage.openTab({ path: '/check' });
    await check('', 'much');
    await tab.page.getByText('Enter a number, such as 150 or 99.5.').waitFor();
    await check('', '100');
    await answer().getByText('Invalid coupon code').waitFor();
  });

  it('The same check again reads the coupon again', async () => {
    const id = await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: `/coupons/${id}` });
    await tab.link('Check it').click();
    expect(await tab.field('Code').inputValue()).toBe('SAVE10');
    await check('SAVE10', '100');
    await answer().getByText('90.00', { exact: true }).waitFor();
    await stage.coupon.database.sql(`update coupons set discount_percent = 50 where id = ${id}`);
    await tab.button('Check').click();
    await answer().getByText('50 % off').waitFor();
  });
});
