import { afterEach, beforeEach, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { alterAnswer } from './altered-answer.ts';
import { colleague } from './clients.ts';
import { chooseMore, deleteCoupons, insertCoupon, readCoupons } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('The page of a coupon', (stage, tab) => {
  let id: number;

  const sql = (text: string) => stage.sql(text);

  /** Saves the form. The form has many words of the page, so only the notice tells that the coupon is stored. */
  const save = async () => {
    await tab.click('Save', tab.notice('Coupon SAVE10 saved'));
  };

  /** What the audit trail has of this test's coupon, latest first: what each change has made different. */
  const changes = async () => {
    const entries = await stage.sql<{ after: object }>(
      `select after from audit_entries where resource_type = 'coupon' and resource_id = $1 order by id desc`,
      [id],
    );
    return entries.map(({ after }) => after);
  };

  beforeEach(async () => {
    id = await insertCoupon(stage.coupon, {
      is_apply_for_all: false,
      is_user_based: true,
      min_order: 500,
      max_value: 150,
      max_limit_for_user: 2,
      valid_till: '2099-01-02T05:00:30Z',
    });
    await sql(`insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 1), (${id}, 3)`);
    await sql(`insert into coupon_applicable_products (coupon_id, product_id) values (${id}, 7)`);
  });

  afterEach(() => deleteCoupons(stage.coupon));

  it('It tells the terms, the users and products by name, those of a list of ids, too, and who created it; one is taken away in its form', async () => {
    await sql(`update coupons set product_ids = '{3, 7}' where id = ${id}`);
    await tab.open(`/coupons/${id}`);
    await tab.heading(/^Coupon SAVE10/).waitFor();
    const terms = await tab.section('Terms').innerText();
    for (const fact of ['10% up to 150', '500', 'Fri 2 Jan 2099, 10:30', '2 customers', 'Asha Menon'])
      expect(terms).toContain(fact);
    const names = (section: string) => tab.section(section).getByRole('listitem').allInnerTexts();
    expect(await names('Customers')).toEqual(['User 1, 9000000001', 'Unnamed, 9000000003']);
    await expect.poll(() => names('Products')).toEqual(['Product 7', 'Product 3']);
    await tab.section('Products').getByText('Only these products:').waitFor();
    await tab.link('Edit').click();
    await tab.click('Remove Product 3');
    await save();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ product_ids: [7], products: [7] }]);
  });

  it('Who renames a coupon is asked, because customers have the old code', async () => {
    await tab.open(`/coupons/${id}/edit`);
    await tab.field('Code').fill('NEW10');
    await tab.click('Save', tab.text('Customers can’t use the old code SAVE10 any more.').first());
    await tab.click('Save anyway', tab.heading(/^Coupon NEW10/));
  });

  it('A coupon is duplicated with its terms, users and products, by links and by list, without its code', async () => {
    await sql(
      `update coupons set product_ids = '{3, 7}', starts_at = '2098-01-02T05:00Z', max_uses = 500 where id = ${id}`,
    );
    await tab.open(`/coupons/${id}`);
    await chooseMore(tab, 'Duplicate');
    await tab.heading('Copy of SAVE10').waitFor();
    expect(await tab.field('Code').inputValue()).toBe('');
    await tab.button('Remove Product 3').waitFor();
    await tab.click('Create coupon', tab.heading(/^Coupon DC/));
    const terms = { discount_percent: '10', min_order: '500', max_value: '150', max_limit_for_user: 2 };
    const limits = { starts_at: new Date('2098-01-02T05:00Z'), max_uses: 500 };
    const same = { ...terms, ...limits, is_user_based: true, users: [1, 3], products: [7] };
    expect(await readCoupons(stage.coupon)).toMatchObject([
      { ...same, coupon_code: 'SAVE10', product_ids: [3, 7] },
      { ...same, product_ids: [7, 3] },
    ]);
  });

  it('Users and products that were deleted are named by number, and the coupon stays limited to them', async () => {
    await tab.open('/users');
    await alterAnswer(tab, CouponService.method.getById, ({ coupon }) => {
      for (const user of coupon?.applicableUsers ?? []) Object.assign(user, { name: undefined, mobile: '' });
      for (const product of coupon?.applicableProducts ?? []) product.name = '';
    });
    await tab.link('Coupons').click();
    await tab.link('SAVE10').click();
    await tab.section('Products').getByText('Product 7 (deleted)').waitFor();
    await tab.section('Products').getByText('Only these products:').waitFor();
    expect(await tab.section('Customers').getByRole('listitem').allInnerTexts()).toEqual([
      'Customer 1 (deleted)',
      'Customer 3 (deleted)',
    ]);
    expect(await tab.section('Customers').getByRole('link').count()).toBe(0);
    await tab.section('Terms').getByText('Nobody', { exact: true }).waitFor();
    await tab.link('Edit').click();
    await tab.button('Remove Customer 1 (deleted)').waitFor();
    await tab.button('Remove Product 7 (deleted)').waitFor();
  });

  it('What staff change is changed alone, and stands in the history', async () => {
    await tab.open(`/coupons/${id}`);
    await tab.link('Edit').click();
    await tab.field('Minimum order').fill('600');
    await tab.click('Remove User 1');
    await tab.pick('Selected customers', 'User 4');
    await save();
    await tab.section('Customers').getByText('User 4, 9000000004').waitFor();
    expect(await changes()).toEqual([{ minOrder: '600', applicableUsers: [3, 4] }]);
    await tab.section('History').getByText('Minimum order').first().waitFor();
  });

  it('A coupon is invalidated at one press, and that is undone at another', async () => {
    await tab.open(`/coupons/${id}`);
    await chooseMore(tab, 'Invalidate');
    await tab.exactly('Ended').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: true }]);
    await tab.notice('Coupon SAVE10 invalidated').getByRole('button', { name: 'Undo' }).click();
    await tab.exactly('Active').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: false }]);
    await chooseMore(tab, 'Invalidate');
    await tab.exactly('Ended').waitFor();
    await chooseMore(tab, 'Reactivate');
    await tab.exactly('Active').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: false }]);
    expect(await changes()).toHaveLength(4);
  });

  it('The usage of the coupon stands first: used of the limit, and used up once there is none left', async () => {
    await sql(`update coupons set is_apply_for_all = true, max_uses = 2, min_order = null where id = ${id}`);
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    const redeem = (orderKey: string, holdSeconds: number) =>
      orders.redeem({ code: 'SAVE10', userId: 1, orderKey, orderAmount: 250, productIds: [7], holdSeconds });
    await redeem('a', 0);
    const { redemption } = await redeem('b', 900);
    await tab.open(`/coupons/${id}`);
    const facts = async () => (await tab.section('Usage').locator('dl > div').allInnerTexts()).slice(0, 3);
    await expect.poll(facts).toEqual(['Used\n1 of 2', 'Discount given\n25.00', 'Held by unpaid orders\n1']);
    expect(await tab.page.locator('main h2').first().innerText()).toBe('Usage');
    await tab.exactly('Active').waitFor();
    await orders.confirm({ redemptionId: redemption?.id ?? 0 });
    await tab.page.reload();
    await tab.exactly('Used up').waitFor();
    await stage.sql('delete from redemptions; delete from coupon_usage');
  });
});
