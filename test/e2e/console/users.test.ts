import { expect, it } from 'vitest';
import { scrollToEnd } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('The users', (stage, tab) => {
  stage.prepare(
    `insert into users (name, mobile) select 'Zoya ' || lpad(n::text, 2, '0'), '80000000' || lpad(n::text, 2, '0')
       from generate_series(1, 60) n;
     insert into coupons (id, coupon_code, discount_percent, is_user_based, is_apply_for_all, created_by)
       values (7, 'SAVE10', 10, true, false, 1), (8, 'OTHER', 10, false, true, 1);
     insert into coupon_applicable_users (coupon_id, user_id) values (7, 2);
     insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by)
       values ('HUSH1', 'X', 5, 1, 2), ('HUSH2', 'X', 5, 1, null), ('HUSH3', 'X', 5, 1, 4)`,
  );

  const names = () => tab.page.getByRole('rowheader').allInnerTexts();
  const codes = (section: string) => tab.section(section).getByRole('rowheader').allInnerTexts();

  it('Staff find a customer by a part of the name or of the mobile number, and come to the customer', async () => {
    await tab.open('/slots');
    await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Customers' }).click();
    const field = tab.field('Search by name or mobile number');
    await field.waitFor();
    await expect.poll(() => tab.page.evaluate('document.activeElement?.type')).toBe('search');
    await field.pressSequentially('zoya 07');
    await expect.poll(names).toEqual(['Zoya 07']);
    expect(new URL(tab.page.url()).searchParams.get('search')).toBe('zoya 07');
    await field.fill('nobody at all');
    await tab.link('Clear filters').click();
    await tab.link('Zoya 01').waitFor();
    expect(await field.inputValue()).toBe('');
    await field.fill('9000000003');
    await expect.poll(names).toEqual(['Unknown']);
    expect(await tab.page.getByRole('cell').allInnerTexts()).toEqual(['9000000003', '3']);
    await field.fill('+91 90000-00002');
    await tab.link('User 2').click();
    await tab.page.getByRole('heading', { name: 'User 2', level: 1, exact: true }).waitFor();
    await tab.page.locator('main header').getByText('9000000002').waitFor();
    await tab.button('Copy number 9000000002').waitFor();
  });

  it('On a phone the list goes on, by name, until everybody was shown once', async () => {
    await tab.open('/users', { viewport: { width: 360, height: 740 } });
    const shown = await scrollToEnd(tab, 65);
    expect(new Set(shown).size).toBe(65);
    expect(shown).toEqual([...shown.slice(0, -1).sort(), 'Unknown']);
    await tab.button('Show more').waitFor({ state: 'detached' });
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
  });

  it('The customers of a coupon lead to their pages, which list their coupons and the reserved ones that they have redeemed', async () => {
    await tab.open('/coupons/7');
    await tab.section('Customers').getByRole('link', { name: 'User 2, 9000000002' }).click();
    await tab.heading('User 2').waitFor();
    await expect.poll(() => codes('Personal coupons')).toEqual(['SAVE10']);
    await expect.poll(() => codes('Claimed coupons')).toEqual(['HUSH1']);
    await tab.follow('SAVE10', /^Coupon SAVE10/);
  });

  it('A customer without coupons and one that is unknown are told', async () => {
    await tab.open('/users/5');
    await tab.section('Personal coupons').getByText('No coupon is for this customer alone.').waitFor();
    await tab.section('Claimed coupons').getByText('This customer hasn’t claimed any reserved coupons.').waitFor();
    await tab.page.goto(`${stage.origin}/users/999`);
    await tab.text('Customer not found').waitFor();
    await tab.follow('All customers', 'Customers');
  });

  it('“Coupon for this number” opens the form with the number filled in, ready to be sent', async () => {
    await tab.open('/users/4');
    await tab.follow('Coupon for this number', 'Coupon for a mobile number');
    expect(await tab.field('Mobile number').inputValue()).toBe('9000000004');
    await tab.click('Create coupon', tab.page.getByRole('status', { name: 'Coupon for 9000000004' }));
    const given = 'select user_id from coupon_applicable_users where coupon_id <> 7';
    expect(await stage.sql(given)).toEqual([{ user_id: 4 }]);
  });

  it('A customer’s own coupons tell how often they were used of how often they may be, and their bookings are listed', async () => {
    await stage.sql(
      `update coupons set max_limit_for_user = 3 where id = 7;
       insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at, used_at)
       values (7, 2, 'a', 90, 9, 'USED', null, now(), now()), (7, 2, 'b', 90, 9, 'HELD', now() + interval '1 hour', now(), null),
         (7, 2, 'c', 90, 9, 'RELEASED', null, now(), now()), (8, 2, 'd', 90, 9, 'USED', null, now(), now()),
         (7, 4, 'e', 90, 9, 'USED', null, now(), now());
       insert into slots (id, delivery_time, freeze_time) values (5, now() + interval '2 days', now() + interval '1 day');
       insert into slot_bookings (slot_id, order_key, user_id, units, state, created_at, booked_at)
       values (5, 'a', 2, 3, 'BOOKED', now(), now()), (5, 'e', 4, 1, 'BOOKED', now(), now())`,
    );
    await tab.open('/users/2');
    const used = tab.section('Personal coupons').getByRole('row').nth(1).getByRole('cell').nth(1);
    await expect.poll(() => used.innerText()).toBe('2 of 3');
    const coupons = tab.section('Redemptions').getByRole('row').locator('td:nth-child(2)');
    await expect.poll(() => coupons.allInnerTexts()).toEqual(['OTHER', 'SAVE10', 'SAVE10', 'SAVE10']);
    await expect.poll(() => tab.section('Bookings').getByRole('row').count()).toBe(2);
    const slot = tab.section('Bookings').locator('a[href$="/slots/5"]');
    await expect.poll(() => slot.innerText()).toMatch(/^\w+ \d+ \w+, /);
    await slot.click();
    await tab.page.waitForURL('**/slots/5');
  });
});
