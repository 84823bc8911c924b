import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { insertCoupon } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The search for everything', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    await stage.slot.database.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 days', now() + interval '1 day');
       insert into product_slots values (7, 4);
       insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('Morning-Run', 7, '{4}');
       insert into users (id, name, mobile) values (50, 'Zoya Khan', '9876543210');
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ('HUSH1', 'X', 5, 1)`,
    );
    await insertCoupon(stage.coupon, { id: 77 });
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  const field = () => tab.page.getByRole('searchbox', { name: 'Search everything' });
  const match = (name: string | RegExp) => tab.page.getByRole('menuitem', { name });

  async function search(text: string, path = '/users'): Promise<void> {
    tab = await stage.openTab({ path });
    await tab.button(/^Search/).click();
    await field().fill(text);
  }

  it.each<[string, string, string | RegExp, RegExp]>([
    ['a slot by its number', '7', 'Slot 7', /\/slots\/7$/],
    ['a slot by the start of a snippet', 'morning', /Slot 7.*Morning-Run/, /\/slots\/7$/],
    [
      'a slot by the link of a vendor',
      'https://app.example/vendor-order-list?id=Morning-Run',
      /Morning-Run/,
      /\/slots\/7$/,
    ],
    ['the slots of a product', 'product 4', /Slots with Product 4/, /\/slots\/list\?product=4$/],
    ['a coupon, with a blank at the end', 'SAVE10 ', 'SAVE10', /\/coupons\/77$/],
    ['a reserved coupon', 'hush', /HUSH1.*reserved/, /\/coupons\/reserved\?search=HUSH1$/],
    ['a user by name', 'zoya', /Zoya Khan/, /\/users\/50$/],
    ['a user by a mobile number as people write it', '98765 43210', /Zoya Khan/, /\/users\/50$/],
    ['another page', 'audit', 'Audit trail', /\/audit$/],
  ])('It finds %s', async (_what, text, name, address) => {
    await search(text);
    await match(name).first().click();
    await expect.poll(() => tab.page.url()).toMatch(address);
  });

  it('An action of the page is done', async () => {
    await search('mark', '/slots/7');
    await match(/Mark full/).click();
    await tab.notice('Slot marked as full capacity').waitFor();
    await tab.notice('Slot marked as full capacity').getByRole('button', { name: 'Undo' }).click();
    await tab.notice('Slot capacity reset').waitFor();
  });

  it('Ctrl-K opens it from a field, arrows and Enter choose, and Escape gives back the focus', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.field('Search by name or mobile number').focus();
    await tab.page.keyboard.press('Control+k');
    await field().waitFor();
    await tab.page.keyboard.press('Escape');
    await field().waitFor({ state: 'detached' });
    await expect.poll(() => tab.page.locator(':focus').getAttribute('type')).toBe('search');
    await tab.page.keyboard.press('Control+k');
    await field().waitFor();
    await tab.page.keyboard.type('7');
    await match('Slot 7').waitFor();
    await tab.page.keyboard.press('ArrowDown');
    await tab.page.keyboard.press('ArrowUp');
    await tab.page.keyboard.press('Enter');
    await tab.heading('Slot 7').waitFor();
  });

  it('A slash opens it outside of fields, and is text inside of one', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.field('Search by name or mobile number').pressSequentially('a/b');
    expect(await tab.field('Search by name or mobile number').inputValue()).toBe('a/b');
    expect(await field().count()).toBe(0);
    await tab.heading('Users').click();
    await tab.page.keyboard.press('/');
    await field().waitFor();
  });
});
