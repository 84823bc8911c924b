import { afterEach, beforeAll, expect, it } from 'vitest';
import { chooseMore, deleteCoupons, insertCoupon, problemAt, readCoupons } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('Coupons for an order or a mobile number', (stage, tab) => {
  beforeAll(async () => {
    await stage.sql(`insert into orders (id, user_id, total_amount) values (42, 2, 349.5), (43, null, 100)`);
    await stage.sql('insert into order_statuses (order_id) values (42)');
  });

  afterEach(() => deleteCoupons(stage.coupon));

  /** Enters an order, and shows it. */
  async function show(order: string): Promise<void> {
    await tab.field('Order number').fill(order);
    await tab.click('Find order');
  }

  it('Staff see the order, its customer and the coupon before they make it, copy its code and open it', async () => {
    await tab.open('/coupons', { permissions: ['clipboard-read', 'clipboard-write'] });
    await chooseMore(tab, 'Refund for an order');
    await show('42');
    await tab.link('User 2, 9000000002').waitFor();
    await tab.exactly('349.50').waitFor();
    await tab.exactly('USE42').waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.button('Create refund coupon').dblclick();
    await tab.text(/^349.50 off, on orders of 349.50 or more, once each, until /).waitFor();
    expect(await tab.page.locator(':focus').innerText()).toBe('Refund coupon: USE42');
    await tab.click('Copy code USE42');
    await expect.poll(() => tab.page.evaluate('navigator.clipboard.readText()')).toBe('USE42');
    const [coupon, ...others] = await readCoupons(stage.coupon);
    expect(others).toEqual([]);
    expect(coupon).toMatchObject({ coupon_code: 'USE42', flat_discount: '349.5', users: [2], is_user_based: true });
    expect(await stage.sql('select refund_coupon_id from order_statuses')).toEqual([{ refund_coupon_id: coupon?.id }]);
    await tab.follow('Open coupon', 'Coupon USE42');
  });

  it('An order is found by the business’s own key, from its page, too', async () => {
    await stage.sql(`update orders set external_id = 'A-42' where id = 42`);
    await tab.open('/orders?key=A-42');
    await tab.link('Refund').click();
    await tab.click('Find order', tab.exactly('USE42'));
    await tab.click('Create refund coupon', tab.notice('Refund coupon USE42 created'));
  });

  it('A refund that was made by mistake is invalidated by its undo, and the order leads to it from then on', async () => {
    await tab.open('/coupons/refund');
    await show('42');
    await tab.click('Create refund coupon');
    await tab.notice('Refund coupon USE42 created').getByRole('button', { name: 'Undo' }).click();
    await tab.notice('Refund coupon invalidated').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: true }]);
    // An order has only one refund coupon.
    await tab.text('This order has its refund coupon already: USE42. It was invalidated.').waitFor();
    await tab.click('Reactivate');
    await expect.poll(() => readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: false }]);
    await tab.follow('USE42', 'Coupon USE42');
  });

  it('Staff see why an order gets no refund coupon, and whose the coupon is that has its code', async () => {
    const other = await insertCoupon(stage.coupon, { coupon_code: 'USE42', is_apply_for_all: false });
    await stage.sql(`insert into coupon_applicable_users (coupon_id, user_id) values (${other}, 3)`);
    await tab.open('/coupons/refund');
    await show('ordér');
    await problemAt(tab, 'Order number', 'Enter the number of the order.').waitFor();
    for (const [order, reason] of [
      ['41', 'Order not found'],
      ['forty', 'Order not found'],
      ['43', 'This order has no customer to give a coupon to.'],
      ['42', /Another coupon already uses the code USE42, for (User 3|Unnamed)/],
    ] as const) {
      await show(order);
      await tab.text(reason).waitFor();
    }
    expect(await tab.button('Create refund coupon').count()).toBe(0);
  });

  it('On a phone staff see whose a mobile number is, give a coupon to it, once for a double press, and take it back', async () => {
    await tab.open('/coupons/phone', { viewport: { width: 360, height: 740 } });
    await tab.field('Mobile number').fill('+91 90000-00002');
    await tab.text('For User 2, 9000000002.').waitFor();
    await tab.field('Mobile number').fill('98765 43-210');
    await tab.text('Nobody has the number 9876543210 yet: a new customer is created.').waitFor();
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await tab.button('Create coupon').dblclick();
    await tab.text('20% off, up to 500, on orders of 1,000 or more, once each.').waitFor();
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    const [user] = await stage.sql<{ id: number }>(`select id from users where mobile = '9876543210'`);
    const coupons = await readCoupons(stage.coupon);
    expect(coupons).toMatchObject([{ discount_percent: '20', min_order: '1000', users: [user?.id], created_by: 1 }]);
    await tab.button(`Copy code ${coupons[0]?.coupon_code}`).waitFor();
    await tab.link('Open coupon').waitFor();
    await tab
      .notice(/^Coupon DC.* created/)
      .getByText('Undo')
      .click();
    await tab.notice('Coupon invalidated').waitFor();
    await tab.button('Create coupon').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ users: [user?.id], is_invalidated: true }]);
  });

  it('What is no mobile number is told at its field', async () => {
    await tab.open('/coupons/phone');
    await tab.click('Create coupon');
    await problemAt(tab, 'Mobile number', 'Mobile number is required').waitFor();
    for (const text of ['98765 4321O1', 'abc9876543212', '1 9876543210', '12345']) {
      await tab.field('Mobile number').fill(text);
      await tab.click('Create coupon');
      await problemAt(tab, 'Mobile number', 'Mobile number must be exactly 10 digits').waitFor();
    }
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });
});
