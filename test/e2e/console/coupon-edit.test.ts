import { afterEach, beforeEach, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { alterAnswer } from './altered-answer.ts';
import { deleteCoupons, insertCoupon, readCoupons } from './coupon-steps.ts';
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
    for (const fact of ['10 % off, at most 150.00', '500.00', '2 Jan 2099, 10:30', '2 users', 'Asha Menon'])
      expect(terms).toContain(fact);
    const names = (section: string) => tab.section(section).getByRole('listitem').allInnerTexts();
    expect(await names('Users')).toEqual(['User 1, 9000000001', 'Unknown, 9000000003']);
    await expect.poll(() => names('Products')).toEqual(['Product 7', 'Product 3']);
    await tab.section('Products').getByText('Only for these products:').waitFor();
    await tab.link('Edit').click();
    await tab.click('Remove Product 3');
    await save();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ product_ids: [7], products: [7] }]);
  });

  it('A coupon is duplicated with its terms, users and products, by links and by list, without its code', async () => {
    await sql(
      `update coupons set product_ids = '{3, 7}', starts_at = '2098-01-02T05:00Z', max_uses = 500 where id = ${id}`,
    );
    await tab.open(`/coupons/${id}`);
    await tab.follow('Duplicate', 'New coupon, as SAVE10');
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
    await tab.section('Products').getByText('Only for these products:').waitFor();
    expect(await tab.section('Users').getByRole('listitem').allInnerTexts()).toEqual([
      'User 1 (deleted)',
      'User 3 (deleted)',
    ]);
    expect(await tab.section('Users').getByRole('link').count()).toBe(0);
    await tab.section('Terms').getByText('Nobody', { exact: true }).waitFor();
    await tab.link('Edit').click();
    await tab.button('Remove User 1 (deleted)').waitFor();
    await tab.button('Remove Product 7 (deleted)').waitFor();
  });

  it('What staff change is changed alone, and stands in the history', async () => {
    await tab.open(`/coupons/${id}`);
    await tab.link('Edit').click();
    await tab.field('Smallest order').fill('600');
    await tab.click('Remove User 1');
    await tab.pick('Users', 'User 4');
    await save();
    await tab.section('Users').getByText('User 4, 9000000004').waitFor();
    expect(await changes()).toEqual([{ minOrder: '600', applicableUsers: [3, 4] }]);
    await tab.section('History').getByText('Smallest order').first().waitFor();
  });

  it('A coupon is invalidated at one press, and that is undone at another', async () => {
    await tab.open(`/coupons/${id}`);
    await tab.click('Invalidate', tab.exactly('Invalidated').first());
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: true }]);
    await tab.notice('Coupon SAVE10 invalidated').getByRole('button', { name: 'Undo' }).click();
    await tab.button('Invalidate').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: false }]);
    await tab.click('Invalidate');
    await tab.click('Make valid again', tab.button('Invalidate'));
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: false }]);
    expect(await changes()).toHaveLength(4);
  });
});
