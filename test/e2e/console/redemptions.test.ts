import type { Client } from '@connectrpc/connect';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { letRunOut } from '../../support/redemptions.ts';
import { colleague } from './clients.ts';
import { deleteCoupons, insertCoupon, row } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('Redemptions', (stage, tab) => {
  let orders: Client<typeof RedemptionService>;
  let couponId: number;

  beforeAll(async () => {
    orders = await colleague(stage.coupon, RedemptionService, 2);
  });

  beforeEach(async () => {
    couponId = await insertCoupon(stage.coupon);
  });

  afterEach(async () => {
    await stage.sql('delete from redemptions; delete from coupon_usage');
    await deleteCoupons(stage.coupon);
  });

  /** Redeems the coupon, and returns the id of the redemption. */
  async function redeem(orderKey: string, userId = 1, holdSeconds = 900): Promise<number> {
    const { redemption } = await orders.redeem({ code: 'SAVE10', userId, orderKey, orderAmount: 250, holdSeconds });
    if (redemption === undefined) throw new Error(`the order ${orderKey} was refused`);
    return redemption.id;
  }

  const sum = 'Discount given';
  const section = () => tab.section('Redemptions');
  const keys = () => section().getByRole('row').getByRole('rowheader').allInnerTexts();
  const usage = async () => {
    const texts = await tab.section('Usage').locator('dl > div').allInnerTexts();
    return texts.map((text) => text.replace(/\s+/g, ' '));
  };

  const filterByState = (option: string) =>
    tab.select(section().locator('.field', { hasText: 'State' }).getByRole('button'), option);

  /** One redemption of each state, the held one the newest. */
  async function redeemInEachState(): Promise<void> {
    await letRunOut(stage.sql, await redeem('order-run-out', 3));
    await orders.release({ redemptionId: await redeem('order-released', 2, 0) });
    await redeem('order-used', 2, 0);
    await redeem('order-held', 1);
  }

  it('A discount is shown as it was given, with what the terms say, and the file says what each number is, with a column for each time', async () => {
    await redeem('order-odd', 2, 0);
    await redeem('order-small', 3, 0);
    await stage.sql(
      `update redemptions set order_amount = 99.99, discount_amount = 33.326667, created_at = '2026-01-02T05:00Z',
         used_at = '2026-01-02T05:01Z' where order_key = 'order-odd';
       update redemptions set order_amount = 100, discount_amount = 500 where order_key = 'order-small'`,
    );
    await tab.open(`/coupons/${couponId}`);
    const discounts = () => section().getByRole('row').locator('td:nth-child(4)').allInnerTexts();
    // At most the order's amount, in the currency's digits.
    await expect.poll(discounts).toEqual(['100.00 full discount 500.00', '33.33 full discount 33.326667']);
    const [headings, _first, second] = await tab.savedCsv(section());
    const times = ['Held', 'Held until', 'Used', 'Returned'].map((title) => `${title} (Asia/Kolkata)`);
    const titles = ['Order', 'Customer number', 'Order amount', 'Full discount', 'State', ...times, 'Redemption'];
    expect(headings).toBe(titles.map((title) => `"${title}"`).join());
    expect(second?.replaceAll('"', '')).toMatch(
      /^order-odd,2,99.99,33.326667,Used,2026-01-02 10:30,,2026-01-02 10:31,,\d+$/,
    );
  });

  it('A coupon’s page tells its usage and the discount given, and lists its redemptions with order, customer, amounts and state', async () => {
    await redeemInEachState();
    await tab.open(`/coupons/${couponId}`);
    await expect
      .poll(usage)
      .toEqual(['Used 1', `${sum} 25.00`, 'Held by unpaid orders 1', 'Returned 1', 'Expired holds 1']);
    await expect.poll(keys).toEqual(['order-held', 'order-used', 'order-released', 'order-run-out']);
    const states = section().getByRole('row').locator('td:nth-child(5)');
    const time = '\\w{3} \\d+ \\w{3}, \\d\\d:\\d\\d$';
    expect(await states.allInnerTexts()).toEqual(
      ['Held\nuntil ', 'Used\n', 'Returned\n', 'Expired hold\n'].map((text) =>
        expect.stringMatching(`^${text}${time}`),
      ),
    );
    const held = section().getByRole('row').filter({ hasText: 'order-held' });
    expect((await held.getByRole('cell').allInnerTexts()).slice(0, 3)).toEqual(['User 1', '250.00', '25.00']);
    expect(await section().getByRole('button', { name: 'Return use…' }).count()).toBe(3);
    await held.getByRole('link', { name: 'User 1' }).click();
    await tab.heading('User 1').waitFor();
  });

  it('The redemptions of a coupon are filtered by state, customer and order, and the address keeps the filters', async () => {
    await redeemInEachState();
    await tab.open(`/coupons/${couponId}`);
    await expect.poll(keys).toHaveLength(4);
    await filterByState('Used');
    await expect.poll(keys).toEqual(['order-used']);
    await filterByState('Any');
    await tab.click('Customer: any');
    await tab.pick('Customer', 'User 2');
    await expect.poll(keys).toEqual(['order-used', 'order-released']);
    await tab.field('Order number').fill(' order-released ');
    await expect.poll(keys).toEqual(['order-released']);
    await tab.page.reload();
    await expect.poll(keys).toEqual(['order-released']);
    await tab.field('Order number').fill('order');
    await section().getByText('No redemptions found.').waitFor();
    await tab.link('Clear filters').click();
    await expect.poll(keys).toHaveLength(4);
    expect(await tab.field('Order number').inputValue()).toBe('');
  });

  it('Staff return a use with a reason: the usage follows, and the audit trail has the reason', async () => {
    await redeem('order-7', 4, 0);
    await tab.open(`/coupons/${couponId}`);
    await expect.poll(usage).toContain('Used 1');
    await tab.click('Return use… of order order-7', tab.page.getByRole('dialog').getByText('order-7'));
    await tab.field('Reason').fill('The order was returned');
    await tab.button('Return').dblclick();
    await tab.notice('The use of order order-7 was returned').waitFor();
    await expect
      .poll(usage)
      .toEqual(['Used 0', `${sum} 0.00`, 'Held by unpaid orders 0', 'Returned 1', 'Expired holds 0']);
    const returned = row(tab, 'order-7').getByRole('cell').nth(3);
    await expect.poll(() => returned.innerText()).toMatch(/^Returned/);
    await expect.poll(() => tab.page.getByRole('dialog').count()).toBe(0);
    // The keyboard goes on at the heading.
    expect(await tab.page.evaluate('document.activeElement.innerText')).toBe('Redemptions');
    await returned.getByRole('link').click();
    const entry = tab.page.locator('.audit-entry').first();
    await entry.getByText('The order was returned').waitFor();
    await entry.getByText('Asha Menon returned order order-7’s redemption').waitFor();
    await entry.getByText('Used → became Returned').waitFor();
  });

  it('A use is returned without a reason, too, on a phone, and a return that is cancelled changes nothing', async () => {
    const key = 'order'.repeat(25);
    await redeem(key);
    await tab.open(`/coupons/${couponId}`, { viewport: { width: 360, height: 740 } });
    await tab.click(`Return use… of order ${key}`, tab.field('Reason'));
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await tab.click('Cancel');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stage.sql('select state from redemptions')).toEqual([{ state: 'HELD' }]);
    await tab.click(`Return use… of order ${key}`);
    await tab.press('Enter');
    await tab.notice(`The use of order ${key} was returned`).waitFor();
    expect(await stage.sql('select state from redemptions')).toEqual([{ state: 'RELEASED' }]);
  });

  it('The audit trail tells in words who has held, used and claimed what', async () => {
    const id = await redeem('order-9', 4);
    await redeem('order-9', 4, 60);
    await orders.confirm({ redemptionId: id });
    await stage.sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ('HUSH9', 'OWN9', 5, 1)`,
    );
    const { coupon, reservedCoupon } = await orders.claim({ secretCode: 'HUSH9', userId: 3 });
    await tab.open('/audit');
    const entries = tab.page.locator('.audit-entry');
    const deeds = async () => (await entries.locator('p:first-child').allTextContents()).slice(0, 5).toSorted();
    const expected = [
      `Ravi Iyer claimed reserved coupon ${reservedCoupon?.id} for a customer`,
      `Ravi Iyer created coupon ${coupon?.couponCode} from a reserved coupon`,
      'Ravi Iyer held a coupon with order order-9’s redemption',
      'Ravi Iyer held the coupon of order order-9’s redemption again',
      'Ravi Iyer used the coupon held with order order-9’s redemption',
    ];
    await expect.poll(deeds).toEqual(expected);
    const held = entries.filter({ hasText: 'held a coupon with' }).locator('dl').first();
    for (const fact of ['User 4', 'order-9', 'Held']) await held.getByText(fact, { exact: true }).waitFor();
    await held.getByRole('link', { name: `Coupon ${couponId}` }).click();
    await tab.heading('Coupon SAVE10').waitFor();
  });

  it('A customer’s page lists their redemptions, each with its coupon, and returns them', async () => {
    await redeem('order-mine', 5);
    await redeem('order-other', 4);
    await tab.open('/users/5');
    await expect.poll(keys).toEqual(['order-mine']);
    expect(await tab.button('Customer: any').count()).toBe(0);
    await tab.click('Return use… of order order-mine');
    await tab.click('Return');
    await expect.poll(() => row(tab, 'order-mine').getByRole('cell').nth(3).innerText()).toMatch(/^Returned/);
    await tab.follow('SAVE10', 'Coupon SAVE10');
  });
});
