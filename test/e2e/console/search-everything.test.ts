import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import { beforeAll, expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { colleague } from './clients.ts';
import type { ConsoleTab } from './console-tab.ts';
import { insertCoupon } from './coupon-steps.ts';
import { describeConsole, type TabOptions } from './stage.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describeConsole('The search for everything', (stage) => {
  let tab: ConsoleTab;

  beforeAll(async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time)
       select n, now() + interval '2 days', now() + interval '1 day' from generate_series(7, 8) n;
       insert into product_slots values (7, 4);
       insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('Morning-Run', 7, '{4}');
       insert into users (id, name, mobile) values (50, 'Zoya Khan', '9876543210');
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ('HUSH1', 'X', 5, 1)`,
    );
    await insertCoupon(stage.coupon, { id: 77 });
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    const order = { code: 'SAVE10', userId: 1, orderAmount: 100 };
    await orders.redeem({ ...order, orderKey: 'sum0-983423', holdSeconds: 0 });
    await orders.redeem({ ...order, orderKey: '983424' });
  });

  const field = () => tab.page.getByRole('searchbox', { name: 'Search everything' });
  const match = (name: string | RegExp) => tab.page.getByRole('menuitem', { name });
  const press = (key: string) => tab.press(key);
  const userField = () => tab.field('Search by name or mobile number');
  const isFocused = (label: string) =>
    tab.page.evaluate<boolean>(`document.activeElement?.labels?.[0]?.innerText === ${JSON.stringify(label)}`);

  async function search(text: string, { path = '/users', ...options }: TabOptions = {}): Promise<void> {
    tab = await stage.openTab({ path, ...options });
    await tab.button(/^Search/).click();
    await field().fill(text);
  }

  it.each<[string, string, string | RegExp, RegExp]>([
    ['a slot by its number', '7', 'Slot 7', /\/slots\/7$/],
    ['a slot as the page calls it', 'slot 7', 'Slot 7', /\/slots\/7$/],
    ['a slot by the code of a snippet', 'Morning-Run', /Slot 7.*Morning-Run/, /\/slots\/7$/],
    ['a slot by the start of a snippet’s code', 'morning', /Slot 7.*Morning-Run/, /\/slots\/7$/],
    [
      'a slot by the link of a vendor',
      'https://app.example/vendor-order-list?id=Morning-Run',
      /Slot 7.*Morning-Run/,
      /\/slots\/7$/,
    ],
    ['a coupon by a part of its code with a blank at the end', 'AVE10 ', 'SAVE10', /\/coupons\/77$/],
    ['a reserved coupon', 'hush', /HUSH1.*reserved/, /\/coupons\/reserved\?search=HUSH1$/],
    ['a user by name', 'zoya', /Zoya Khan/, /\/users\/50$/],
    ['a user by a mobile number as people write it', '98765 43210', /Zoya Khan/, /\/users\/50$/],
    [
      'the coupon that an order has used',
      'sum0-983423',
      /^Order sum0-983423: SAVE10 used$/,
      /\/coupons\/77\?search=sum0/,
    ],
    ['the coupon that is held for an order with a number', '983424', /^Order 983424: SAVE10 held$/, /\/coupons\/77\?/],
    ['another page', 'audit', 'Audit trail', /\/audit$/],
    ['the batches', 'many codes', 'Many codes', /\/coupons\/batches$/],
  ])('It finds %s', async (_what, text, name, address) => {
    await search(text);
    await match(name).click();
    await expect.poll(() => tab.page.url()).toMatch(address);
  });

  it('It finds a product, and leads to the slots that have it', async () => {
    await search('product 4');
    await match('Slots with Product 4').click();
    await tab.button('Product: Product 4').waitFor();
    await expect.poll(() => tab.page.getByRole('rowheader').allInnerTexts()).toEqual(['Slot 7']);
  });

  it('A number that no slot has leads to none', async () => {
    await search('781234');
    await tab.text('Nothing found.').waitFor();
    expect(await match('Slot 781234').count()).toBe(0);
  });

  it('The beginning of a mobile number, which no slot has, leads to its user at Enter', async () => {
    await search('');
    await field().pressSequentially('987654');
    await press('Enter');
    await tab.heading('Zoya Khan').waitFor();
  });

  it('On the page of a slot, its number leads to it, and does nothing to it', async () => {
    await search('slot 8', { path: '/slots/8' });
    await expect.poll(() => tab.page.getByRole('menuitem').first().innerText()).toMatch(/^Slot 8/);
    await match(/^Mark full/).waitFor();
  });

  it('It finds the actions of the page, and does the one that is chosen', async () => {
    await search('mark', { path: '/slots/8' });
    await match('Mark full: slot 8').click();
    await tab.notice('Slot marked as full capacity').waitFor();
    const slots = await stage.sql('select id from slots where is_capacity_full');
    expect(slots).toEqual([{ id: 8 }]);
  });

  it('It says so when nothing is found', async () => {
    await search('no such thing at all');
    await tab.text('Nothing found.').waitFor();
  });

  it('Ctrl-K opens it from a field', async () => {
    tab = await stage.openTab({ path: '/users' });
    await userField().focus();
    await press('Control+K');
    await field().waitFor();
    await tab.page.keyboard.type('7');
    expect(await field().inputValue()).toBe('7');
    expect(await userField().inputValue()).toBe('');
  });

  it('A slash opens it outside of fields', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.heading('Users').click();
    await press('/');
    await field().waitFor();
    expect(await field().inputValue()).toBe('');
  });

  it('A slash in a field is text', async () => {
    tab = await stage.openTab({ path: '/users' });
    await userField().pressSequentially('a/b');
    expect(await userField().inputValue()).toBe('a/b');
    expect(await field().count()).toBe(0);
  });

  it('A slash in its own field is text', async () => {
    await search('');
    await field().pressSequentially('a/b');
    expect(await field().inputValue()).toBe('a/b');
  });

  it('Arrows go through the matches, and Enter chooses one', async () => {
    await search('product 1');
    await match(/Product 13/).waitFor();
    const focused = () => tab.page.locator('[role=menuitem][data-focused]').allInnerTexts();
    const [first, second] = await tab.page.getByRole('menuitem').allInnerTexts();
    await expect.poll(focused).toEqual([first]);
    await press('ArrowDown');
    await expect.poll(focused).toEqual([second]);
    await press('ArrowUp');
    await expect.poll(focused).toEqual([first]);
    await press('ArrowDown');
    await press('Enter');
    await tab.button('Product: Product 10').waitFor();
  });

  it('Enter that comes before the matches waits for them, and takes the first one', async () => {
    await search('');
    await field().pressSequentially('product 12');
    await press('Enter');
    await tab.button('Product: Product 12').waitFor();
  });

  it('Enter never takes what an earlier text has found', async () => {
    await search('product 1');
    await expect.poll(() => field().getAttribute('aria-activedescendant')).not.toBeNull();
    await field().press('End');
    await field().pressSequentially('2');
    await press('Enter');
    await tab.button('Product: Product 12').waitFor();
  });

  it('Escape closes it, and gives the focus back to the field', async () => {
    tab = await stage.openTab({ path: '/users' });
    await userField().focus();
    await press('Control+K');
    await field().waitFor();
    await press('Escape');
    await field().waitFor({ state: 'detached' });
    await expect.poll(() => isFocused('Search by name or mobile number')).toBe(true);
  });

  it('Escape closes it when something is typed, too', async () => {
    await search('zoya');
    await match(/Zoya Khan/).waitFor();
    await press('Escape');
    await field().waitFor({ state: 'detached' });
    await expect.poll(() => tab.page.locator(':focus').innerText()).toMatch(/^Search/);
  });

  it.each(['light', 'dark'] as const)('axe finds nothing in it in the %s', async (colorScheme) => {
    await search('product 1', { path: '/slots/7', colorScheme });
    await match(/Product 13/).waitFor();
    await press('ArrowDown');
    expect(await violations(tab)).toEqual([]);
    await field().fill('no such thing at all');
    await tab.text('Nothing found.').waitFor();
    expect(await violations(tab)).toEqual([]);
  });
});

/** What axe-core finds in the page, in words. */
async function violations({ page }: ConsoleTab): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run()');
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join('; ')}`);
}
