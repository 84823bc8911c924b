import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

const hours = 3_600_000;

describeConsole('A token from elsewhere', (stage) => {
  let tab: ConsoleTab;

  beforeAll(async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
    );
  });

  const signed = (staffId: number, name: string) =>
    signToken({ staffId, subject: `staff-${staffId}`, claims: { name } });
  const invented = (name: string) => {
    const claims = { sub: 'staff-1', staff_id: 1, name, exp: 9_999_999_999 };
    return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
  };
  const account = (page: Page) => page.locator('.account');

  it('A link does not take the place of whoever is signed in, and its token leaves the address', async () => {
    tab = await stage.openTab({ token: await signed(1, 'Asha Menon') });
    await account(tab.page).getByText('Asha Menon').waitFor();
    await tab.page.evaluate(`location.hash = 'token=${await signed(2, 'Ravi Iyer')}'`);
    await expect.poll(() => new URL(tab.page.url()).hash).toBe('');
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
    expect(await account(tab.page).getByText('Asha Menon').count()).toBe(1);
  });

  it('A link that is pasted where the page is open signs in whoever is not, and leaves the address', async () => {
    tab = await stage.openTab({ token: '' });
    await tab.field('Token').waitFor();
    await tab.page.evaluate(`location.hash = 'token=${await signed(1, 'Asha Menon')}'`);
    await tab.link(/Slot 7$/).waitFor();
    expect(new URL(tab.page.url()).hash).toBe('');
  });

  it('A link on a page of another site signs in only whoever agrees, and says as whom', async () => {
    tab = await stage.openTab({ token: '' });
    const link = `${stage.origin}/slots#token=${await signed(2, 'Ravi Iyer')}`;
    const elsewhere = `data:text/html,${encodeURIComponent(`<a href="${link}">The console</a>`)}`;
    await tab.page.goto(elsewhere);
    await tab.link('The console').click();
    await tab.text('A page of another site wants to sign you in as staff-2').waitFor();
    await tab.text('Staff number 2').waitFor();
    expect(await tab.heading('Slots').count()).toBe(0);
    await tab.button('Don’t').click();
    await tab.field('Token').waitFor();
    await tab.page.goto(elsewhere);
    await tab.link('The console').click();
    await tab.button('Sign in as staff-2').click();
    await tab.link(/Slot 7$/).waitFor();
  });

  it('The name of an invented token is not shown, and signing out of it leaves the other tabs alone', async () => {
    tab = await stage.openTab({ token: await signed(1, 'Asha Menon') });
    await tab.link(/Slot 7$/).waitFor();
    const page = await tab.page.context().newPage();
    await page.addInitScript('sessionStorage.setItem("session", "")');
    await page.goto(`${stage.origin}/slots#token=${invented('The director')}`);
    const other = new ConsoleTab(page);
    await page.getByRole('alertdialog', { name: 'The services don’t accept this token' }).waitFor();
    expect(await page.getByText('The director').count()).toBe(0);
    await other.page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click();
    await other.field('Token').waitFor();
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
  });

  it('A computer whose clock is nine hours ahead takes a good token, and counts by the services’ clock', async () => {
    const ahead = 9 * hours;
    const initScript = `{
      const now = Date.now;
      Date.now = () => now() + ${ahead};
      const { timeOrigin } = performance;
      Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + ${ahead} });
    }`;
    tab = await stage.openTab({ token: '', initScript });
    await tab.field('Token').fill(await signToken({ staffId: 1, subject: 'staff-1', expiresIn: 3_600 }));
    await tab.button('Sign in').click();
    await tab.link(/Slot 7$/).click();
    await tab.text(/^Orders close in (59 min|1 h)/).waitFor();
    expect(await tab.page.getByRole('alertdialog').count()).toBe(0);
  });

  it('Marks that turn the direction of a text stay within it', async () => {
    await stage.sql(`update staff_users set name = 'Eve \u202egnihton' where id = 2`);
    await stage.sql(
      `insert into audit_entries (at, procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
       values (now(), 'slot.v1.SlotService/DeleteSlot', 's', 2, 'r', 'slot', 38, '{}', '{}')`,
    );
    tab = await stage.openTab({ path: '/audit?staff=2' });
    const deed = tab.page.getByRole('paragraph').filter({ hasText: 'deactivated slot 38' });
    expect(await deed.innerText()).toContain('\u2068Eve \u202egnihton\u2069 deactivated');
  });

  it('A window that a page of another site has opened is no longer tied to it', async () => {
    tab = await stage.openTab({ token: '' });
    const response = await tab.page.goto(stage.origin);
    expect(response?.headers()['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
  });

  it('An address with impossible days opens the form of the slot as it is', async () => {
    tab = await stage.openTab({ path: '/slots/new?like=7&days=9e99' });
    await tab.heading('New slot, as slot 7').waitFor();
    await tab.field('Delivery time').waitFor();
  });
});
