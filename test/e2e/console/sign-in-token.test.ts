import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

const aheadMs = 9 * 3_600_000;

describeConsole('Signing in with a token', (stage, tab) => {
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour');
     insert into staff_users (id, name, disabled_at) values (3, 'Gone', now())`,
  );

  const paste = async (text: string) => {
    await tab.field('Token').fill(text);
    await tab.click('Sign in');
  };
  const again = (name: RegExp) => tab.page.getByRole('alertdialog', { name });
  const slotLink = () => tab.link(/Slot 7$/);
  const signed = (staffId: number, name: string) =>
    signToken({ staffId, subject: `staff-${staffId}`, claims: { name } });
  const account = (page: Page) => page.locator('.account');

  it('Staff who paste a token see what they came for, and it is in no URL, in no cookie and not in local storage', async () => {
    await tab.open('/slots?from=link', { token: '' });
    const token = await signed(1, 'Asha Menon');
    const urls: string[] = [];
    tab.page.on('request', (request) => void urls.push(request.url()));
    await tab.page.reload();
    await paste(`  bearer ${token}\n`);
    await slotLink().waitFor();
    await tab.text('Asha Menon').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots?from=link`);
    await slotLink().dblclick();
    await tab.page.waitForURL('**/slots/7');
    expect(urls.length).toBeGreaterThan(2);
    // Nor is what signing in with a provider needs fetched.
    expect(urls.filter((url) => url.includes(token) || /oidc/.test(url))).toEqual([]);
    expect(await tab.page.evaluate('Object.keys(localStorage)')).toEqual([]);
    expect(await tab.page.context().cookies()).toEqual([]);
  });

  it('A text that is no token, and a token that has expired, are refused with the reason', async () => {
    await tab.open('/slots', { token: '' });
    for (const text of ['a.b.c', 'x'.repeat(5_000)]) {
      await paste(text);
      await tab.text('This is not a token: a token has three parts with dots between them.').waitFor();
      expect(await tab.heading('Slots').count()).toBe(0);
    }
    await paste(await signToken({ staffId: 1, expiresIn: -60 }));
    await tab.text('This token has expired. Ask for a new one.').waitFor();
    await paste(await signToken({ staffId: 1 }));
    await slotLink().waitFor();
  });

  it('The token of a link leaves the address and the history at once', async () => {
    const token = await signToken({ staffId: 1 });
    await tab.open('/slots?from=link', { token });
    await slotLink().waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots?from=link`);
    const session = await tab.page.context().newCDPSession(tab.page);
    const { entries } = await session.send('Page.getNavigationHistory');
    expect(entries.map(({ url }) => url).filter((url) => url.includes(token))).toEqual([]);
  });

  it('A reload and a link in a new tab keep the session, and another browser profile has none', async () => {
    await tab.open();
    await slotLink().waitFor();
    await tab.page.reload();
    const opened = tab.page.context().waitForEvent('page');
    await slotLink().click({ modifiers: ['ControlOrMeta'] });
    await new ConsoleTab(await opened).heading('Delivery sequence').waitFor();
    const other = await stage.openTab({ token: '' });
    await other.field('Token').waitFor();
  });

  it('A token that ends asks to sign in again over the page, and what was entered stays', async () => {
    const subject = 'staff-1';
    await tab.open('/slots/new', { token: await signToken({ staffId: 1, subject, expiresIn: 10 }) });
    await tab.time('Delivery time').fill('2030-01-02T10:00');
    await again(/Your session has ended/).waitFor();
    await paste(await signToken({ staffId: 1, subject }));
    await again(/ended/).waitFor({ state: 'hidden' });
    expect(await tab.time('Delivery time').inputValue()).toBe('2030-01-02T10:00');
  });

  it('A token that the services refuse asks for another one, and the page then shows what was refused', async () => {
    const key = 'another secret of more than thirty-two bytes, of nobody';
    await tab.open('/slots', { token: await signToken({ staffId: 1, key }) });
    await again(/token isn’t accepted/).waitFor();
    await paste(await signToken({ staffId: 1 }));
    await slotLink().waitFor();
  });

  it('A token that is refused before its end, without a reason, asks to sign in again over the form, which is kept', async () => {
    await tab.open('/coupons/new');
    await tab.field('Percent off').fill('10');
    await tab.exactly('Everyone').click();
    await tab.page.route(/CouponService\/Create$/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' } })
        : route.continue(),
    );
    await tab.click('Create coupon');
    await again(/Your sign-in is no longer accepted/).waitFor();
    await tab.page.unroute(/CouponService\/Create$/);
    await paste(await signToken({ staffId: 1, subject: 'staff-1' }));
    await again(/no longer accepted/).waitFor({ state: 'hidden' });
    await tab.click('Create coupon', tab.heading(/^Coupon DC/));
  });

  it.each([
    ['was cut off', async () => (await signToken({ staffId: 1 })).slice(0, 40), 'This sign-in link doesn’t work'],
    ['has ended', () => signToken({ staffId: 1, expiresIn: -60 }), 'This link has expired'],
  ] as const)('A link whose token %s says why it does not sign in', async (_which, make, words) => {
    await tab.open('/slots', { token: await make() });
    await tab.page.getByRole('alert').getByText(words).waitFor();
    expect(new URL(tab.page.url()).hash).toBe('');
    await paste(await signToken({ staffId: 1 }));
    await slotLink().waitFor();
  });

  it.each([
    ['without a staff identity', undefined],
    ['of a staff user who was disabled', 3],
    ['of a staff user who does not exist', 99],
  ])('A token %s is told once, on top of the page', async (_whose, staffId) => {
    await tab.open('/slots', { token: await signToken({ staffId }) });
    await tab.text('This account is not staff').waitFor();
    await tab.text('Only staff can see or do this.').first().waitFor();
    expect(await tab.text('This account is not staff').count()).toBe(1);
    expect(await tab.page.getByRole('alert').count()).toBe(0);
  });

  it('A link that is pasted where the page is open signs in whoever is not, takes the place of nobody, and leaves the address', async () => {
    await tab.open('/slots', { token: '' });
    await tab.field('Token').waitFor();
    const followLink = async (staffId: number, name: string) => {
      await tab.page.evaluate(`location.hash = 'token=${await signed(staffId, name)}'`);
      await expect.poll(() => new URL(tab.page.url()).hash).toBe('');
    };
    await followLink(1, 'Asha Menon');
    await account(tab.page).getByText('Asha Menon').waitFor();
    await followLink(2, 'Ravi Iyer');
    await tab.page.reload();
    await slotLink().waitFor();
    expect(await account(tab.page).getByText('Asha Menon').count()).toBe(1);
  });

  it('A link on a page of another site signs in only whoever agrees, and says as whom, and its window is no longer tied to that page', async () => {
    await tab.open('/slots', { token: '' });
    const link = `${stage.origin}/slots#token=${await signed(2, 'Ravi Iyer')}`;
    const response = await tab.page.goto(stage.origin);
    expect(response?.headers()['cross-origin-opener-policy']).toBe('same-origin-allow-popups');
    const openElsewhere = async () => {
      await tab.page.goto(`data:text/html,${encodeURIComponent(`<a href="${link}">The console</a>`)}`);
      await tab.link('The console').click();
    };
    await openElsewhere();
    await tab.text('A page of another site wants to sign you in as staff-2').waitFor();
    await tab.text('Staff number 2').waitFor();
    expect(await tab.heading('Slots').count()).toBe(0);
    await tab.click('Don’t', tab.field('Token'));
    await openElsewhere();
    await tab.click('Sign in as staff-2');
    await slotLink().waitFor();
  });

  it('The name of an invented token is not shown, and signing out of it leaves the other tabs alone', async () => {
    await tab.open('/slots', { token: await signed(1, 'Asha Menon') });
    await slotLink().waitFor();
    const page = await tab.page.context().newPage();
    await page.addInitScript('sessionStorage.setItem("session", "")');
    const claims = { sub: 'staff-1', staff_id: 1, name: 'The director', exp: 9_999_999_999 };
    const invented = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
    await page.goto(`${stage.origin}/slots#token=${invented}`);
    const dialog = page.getByRole('alertdialog', { name: 'This token isn’t accepted' });
    await dialog.waitFor();
    expect(await page.getByText('The director').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Sign out' }).click();
    await new ConsoleTab(page).field('Token').waitFor();
    await tab.page.reload();
    await slotLink().waitFor();
  });

  it('A computer whose clock is nine hours ahead takes a good token, and counts by the services’ clock', async () => {
    const initScript = `{
      const now = Date.now;
      Date.now = () => now() + ${aheadMs};
      const { timeOrigin } = performance;
      Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + ${aheadMs} });
    }`;
    await tab.open('/slots', { token: '', initScript });
    await paste(await signToken({ staffId: 1, subject: 'staff-1', expiresIn: 3_600 }));
    await slotLink().click();
    await tab.text(/^Orders close in (59 min|1 h)/).waitFor();
    expect(await tab.page.getByRole('alertdialog').count()).toBe(0);
  });

  it('The next person in a tab is not told what the last one has done, and what that one has sent is not sent again in their name', async () => {
    await tab.open('/slots/7');
    const changeTo = async (staffId: number) => {
      await tab.click('Sign out');
      await paste(await signToken({ staffId, subject: `staff-${staffId}` }));
      await tab.button(/^Reopen/).waitFor();
    };
    await tab.click('Mark full: slot 7', tab.notice('Slot 7'));
    await changeTo(2);
    expect(await tab.notice('Slot 7').count()).toBe(0);
    const keys: (string | null)[] = [];
    let end = () => {};
    const isOver = new Promise<void>((resolve) => {
      end = resolve;
    });
    await tab.page.route(/UpdateSlotCapacity$/, async (route) => {
      keys.push(await route.request().headerValue('idempotency-key'));
      await isOver;
      await route.abort();
    });
    await tab.click('Reopen: slot 7');
    await expect.poll(() => keys.length).toBe(1);
    await changeTo(1);
    end();
    // By the time that this one has been given up, that of the other person has been tried again, too.
    await tab.click('Reopen: slot 7', tab.text('The service can’t be reached'));
    expect(keys.filter((key) => key === keys[0])).toHaveLength(1);
  });
});
