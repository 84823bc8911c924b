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
  const keys = () => section().getByRole('row').locator('td:nth-child(2)').allInnerTexts();
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
    const discounts = () => section().getByRole('row').locator('td:nth-child(5)').allInnerTexts();
    // At most the order's amount, in the currency's digits.
    await expect.poll(discounts).toEqual(['100.00 by its terms 500.00', '33.33 by its terms 33.326667']);
    const [headings, _first, second] = await tab.savedCsv(section());
    const times = ['Held', 'Held until', 'Used', 'Released'].map((title) => `${title} (Asia/Kolkata)`);
    expect(headings).toBe(`Redemption,Order,User number,Order amount,Discount by its terms,State,${times}`);
    expect(second).toMatch(/^\d+,order-odd,2,99.99,33.326667,Used,2026-01-02 10:30,,2026-01-02 10:31,$/);
  });

  it('A coupon’s page tells its usage and the discount given, and lists its redemptions with order, user, amounts and state', async () => {
    await redeemInEachState();
    await tab.open(`/coupons/${couponId}`);
    await expect.poll(usage).toEqual(['Held 1', 'Used 1', 'Released 1', 'Run out 1', `${sum} 25.00`]);
    await expect.poll(keys).toEqual(['order-held', 'order-used', 'order-released', 'order-run-out']);
    const states = section().getByRole('row').locator('td:nth-child(6)');
    expect(await states.allInnerTexts()).toEqual(['Held', 'Used', 'Released', 'Run out']);
    const held = section().getByRole('row').filter({ hasText: 'order-held' });
    expect((await held.getByRole('cell').allInnerTexts()).slice(1, 5)).toEqual(['User 1', '250.00', '25.00', 'Held']);
    for (const time of [/^Held until \d/, /^Used \d/, /^Ran out \d/]) await section().getByText(time).first().waitFor();
    expect(await section().getByRole('button', { name: 'Release…' }).count()).toBe(3);
    await held.getByRole('link', { name: 'User 1' }).click();
    await tab.heading('User 1').waitFor();
  });

  it('The redemptions of a coupon are filtered by state, user and order, and the address keeps the filters', async () => {
    await redeemInEachState();
    await tab.open(`/coupons/${couponId}`);
    await expect.poll(keys).toHaveLength(4);
    await filterByState('Used');
    await expect.poll(keys).toEqual(['order-used']);
    await filterByState('Any');
    await tab.click('User: any');
    await tab.pick('User', 'User 2');
    await expect.poll(keys).toEqual(['order-used', 'order-released']);
    await tab.field('Order, in full').fill(' order-released ');
    await expect.poll(keys).toEqual(['order-released']);
    await tab.page.reload();
    await expect.poll(keys).toEqual(['order-released']);
    await tab.field('Order, in full').fill('order');
    await section().getByText('No redemption matches.').waitFor();
  });

  it('Staff release a redemption with a reason: the usage follows, and the audit trail has the reason', async () => {
    const id = await redeem('order-7', 4, 0);
    await tab.open(`/coupons/${couponId}`);
    await expect.poll(usage).toContain('Used 1');
    await tab.click(`Release…: redemption ${id}`, tab.page.getByRole('dialog').getByText('order-7'));
    await tab.field('Reason').fill('The order was returned');
    await tab.button('Release').dblclick();
    await tab.notice(`Redemption ${id} released`).waitFor();
    await expect.poll(usage).toEqual(['Held 0', 'Used 0', 'Released 1', 'Run out 0', `${sum} 0.00`]);
    const released = row(tab, `Redemption ${id}`);
    await expect.poll(() => released.getByRole('cell').nth(4).innerText()).toBe('Released');
    expect(await tab.page.getByRole('dialog').count()).toBe(0);
    // The keyboard goes on where the button was.
    const time = await released.getByRole('time').last().innerText();
    expect(await tab.page.evaluate('document.activeElement.innerText')).toBe(time);
    await tab.link(`Redemption ${id}`).click();
    const entry = tab.page.locator('.audit-entry').first();
    await entry.getByText('The order was returned').waitFor();
    expect(await entry.locator('p').first().innerText()).toBe(`Asha Menon released redemption ${id}`);
    await entry.getByText('Used → became Released').waitFor();
  });

  it('A redemption is released without a reason, too, on a phone, and a release that is cancelled changes nothing', async () => {
    const id = await redeem('order'.repeat(25));
    await tab.open(`/coupons/${couponId}`, { viewport: { width: 360, height: 740 } });
    await tab.click(`Release…: redemption ${id}`, tab.field('Reason'));
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await tab.click('Cancel');
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await stage.sql('select state from redemptions')).toEqual([{ state: 'HELD' }]);
    await tab.click(`Release…: redemption ${id}`);
    await tab.press('Enter');
    await tab.notice(`Redemption ${id} released`).waitFor();
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
      `Ravi Iyer claimed reserved coupon ${reservedCoupon?.id} for a user`,
      `Ravi Iyer created coupon ${coupon?.id} from a reserved coupon`,
      `Ravi Iyer held a coupon by redemption ${id}`,
      `Ravi Iyer held the coupon of redemption ${id} anew`,
      `Ravi Iyer used the coupon held by redemption ${id}`,
    ];
    await expect.poll(deeds).toEqual(expected);
    const held = entries.filter({ hasText: 'held a coupon by' }).locator('dl').first();
    for (const fact of ['User 4', 'order-9', 'Held']) await held.getByText(fact, { exact: true }).waitFor();
    await held.getByRole('link', { name: `Coupon ${couponId}` }).click();
    await tab.heading('Coupon SAVE10').waitFor();
  });

  it('A user’s page lists the redemptions of the user, each with its coupon, and releases them', async () => {
    const id = await redeem('order-mine', 5);
    await redeem('order-other', 4);
    await tab.open('/users/5');
    await expect.poll(keys).toEqual(['order-mine']);
    expect(await tab.button('User: any').count()).toBe(0);
    await tab.click(`Release…: redemption ${id}`);
    await tab.click('Release');
    await expect.poll(() => row(tab, `Redemption ${id}`).getByRole('cell').nth(4).innerText()).toBe('Released');
    await tab.follow(`Coupon ${couponId}`, 'Coupon SAVE10');
  });
});
