import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { insertCoupon } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The page of a user', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    const id = await insertCoupon(stage.coupon, { is_apply_for_all: false, is_user_based: true });
    await insertCoupon(stage.coupon, { coupon_code: 'OTHER' });
    await stage.coupon.database.sql(
      `insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2);
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by)
       values ('HUSH1', 'X', 5, 1, 2), ('HUSH2', 'X', 5, 1, null)`,
    );
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  it('It shows their coupons, and the reserved ones that they have redeemed', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.link('User 2').click();
    await tab.heading('User 2').waitFor();
    await tab.section('User').getByText('9000000002').waitFor();
    await tab.section('Coupons for this user').getByRole('link', { name: 'SAVE10' }).waitFor();
    await tab.section('Reserved coupons redeemed').getByRole('link', { name: 'HUSH1' }).waitFor();
    expect(await tab.page.getByText(/OTHER|HUSH2/).count()).toBe(0);
  });

  it('A coupon for their number is one step away', async () => {
    tab = await stage.openTab({ path: '/users/2' });
    await tab.link('Coupon for this number').click();
    await expect.poll(() => tab.field('Mobile number').inputValue()).toBe('9000000002');
  });

  it('The users of a coupon lead to their pages', async () => {
    tab = await stage.openTab({ path: '/coupons?search=SAVE10' });
    await tab.link('SAVE10').click();
    await tab.link('User 2, 9000000002').click();
    await tab.heading('User 2').waitFor();
  });

  it('An unknown user leads to all users', async () => {
    tab = await stage.openTab({ path: '/users/999' });
    await tab.page.getByText('User not found').waitFor();
    await tab.link('All users').waitFor();
  });
});

describeInBrowser('The picture of a product', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  it('It is shown where a product is chosen, and one that can’t be loaded leaves its place empty', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.page.route(/images\.example/, (route) =>
      route.request().url().endsWith('/4.jpg')
        ? route.fulfill({ contentType: 'image/png', body: Buffer.from(pixel, 'base64') })
        : route.abort('connectionrefused'),
    );
    await tab.button(/^Search/).click();
    await tab.page.keyboard.type('new slot');
    await tab.page.getByRole('menuitem', { name: 'New slot' }).click();
    const products = tab.page.getByRole('group', { name: 'Products', exact: true });
    const picture = (name: string) => products.getByRole('row', { name, exact: true }).locator('.picture img');
    await products.getByRole('searchbox').fill('Product 4');
    await expect
      .poll(() => picture('Product 4').evaluate((image) => 'naturalWidth' in image && image.naturalWidth))
      .toBe(1);
    await products.getByRole('searchbox').fill('Product 5');
    await products.getByRole('row', { name: 'Product 5', exact: true }).waitFor();
    await expect.poll(() => picture('Product 5').count()).toBe(0);
  });
});
