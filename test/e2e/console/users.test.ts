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

  it('Staff find a user by a part of the name or of the mobile number, and come to the user', async () => {
    await tab.open('/slots');
    await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click();
    const field = tab.field('Search by name or mobile number');
    await field.pressSequentially('zoya 07');
    await expect.poll(names).toEqual(['Zoya 07']);
    expect(new URL(tab.page.url()).searchParams.get('search')).toBe('zoya 07');
    await field.fill('nobody at all');
    await tab.text('Nobody was found.').waitFor();
    await field.fill('9000000003');
    await expect.poll(names).toEqual(['Unknown']);
    expect(await tab.page.getByRole('cell').allInnerTexts()).toEqual(['9000000003', '3']);
    await field.fill('+91 90000-00002');
    await tab.link('User 2').click();
    await tab.page.getByRole('heading', { name: 'User 2', level: 1, exact: true }).waitFor();
    await tab.section('User').getByText('9000000002', { exact: true }).waitFor();
  });

  it('On a phone the list goes on, by name, until everybody was shown once', async () => {
    await tab.open('/users', { viewport: { width: 360, height: 740 } });
    const shown = await scrollToEnd(tab, 65);
    expect(new Set(shown).size).toBe(65);
    expect(shown).toEqual([...shown.slice(0, -1).sort(), 'Unknown']);
    await tab.button('Show more').waitFor({ state: 'detached' });
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
  });

  it('The users of a coupon lead to their pages, which list their coupons and the reserved ones that they have redeemed', async () => {
    await tab.open('/coupons/7');
    await tab.section('Users').getByRole('link', { name: 'User 2, 9000000002' }).click();
    await tab.heading('User 2').waitFor();
    await expect.poll(() => codes('Coupons for this user')).toEqual(['SAVE10']);
    await expect.poll(() => codes('Reserved coupons redeemed')).toEqual(['HUSH1']);
    await tab.follow('SAVE10', /^Coupon SAVE10/);
  });

  it('A user without coupons and one that is unknown are told', async () => {
    await tab.open('/users/5');
    await tab.section('Coupons for this user').getByText('No coupon names this user.').waitFor();
    await tab.section('Reserved coupons redeemed').getByText('This user has redeemed no reserved coupon.').waitFor();
    await tab.page.goto(`${stage.origin}/users/999`);
    await tab.text('User not found').waitFor();
    await tab.follow('All users', 'Users');
  });

  it('“Coupon for this number” opens the form with the number filled in, ready to be sent', async () => {
    await tab.open('/users/4');
    await tab.follow('Coupon for this number', 'Coupon for a mobile number');
    expect(await tab.field('Mobile number').inputValue()).toBe('9000000004');
    await tab.click('Create coupon', tab.page.getByRole('status', { name: 'The coupon for 9000000004' }));
    const given = 'select user_id from coupon_applicable_users where coupon_id <> 7';
    expect(await stage.sql(given)).toEqual([{ user_id: 4 }]);
  });
});
