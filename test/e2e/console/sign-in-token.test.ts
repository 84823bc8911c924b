import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('Signing in with a token', (stage) => {
  let tab: ConsoleTab;

  beforeAll(async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
    );
    await stage.sql(`insert into staff_users (id, name, disabled_at) values (3, 'Gone', now())`);
  });

  const paste = async (text: string) => {
    await tab.field('Token').fill(text);
    await tab.button('Sign in').click();
  };

  const again = (name: RegExp) => tab.page.getByRole('alertdialog', { name });

  it.each(['', 'Bearer ', '  bearer  '])(
    'Staff who paste a token after "%s" see what they came for',
    async (before) => {
      tab = await stage.openTab({ path: '/slots?from=link', token: '' });
      await paste(`${before}${await signToken({ staffId: 1, claims: { name: 'Asha Menon' } })}\n`);
      await tab.link(/Slot 7$/).waitFor();
      await tab.text('Asha Menon').waitFor();
      expect(tab.page.url()).toBe(`${stage.origin}/slots?from=link`);
    },
  );

  it.each(['hello', 'a.b.c', 'Bearer', `${'x'.repeat(5_000)}`])(
    'A text that is no token is refused: %s',
    async (text) => {
      tab = await stage.openTab({ token: '' });
      await paste(text);
      await tab.text('This is no token: it has three parts with dots between them.').waitFor();
      expect(await tab.heading('Slots').count()).toBe(0);
    },
  );

  it('A token that has expired is refused', async () => {
    tab = await stage.openTab({ token: '' });
    await paste(await signToken({ staffId: 1, expiresIn: -60 }));
    await tab.text('This token has ended. Ask for a new one.').waitFor();
    await paste(await signToken({ staffId: 1 }));
    await tab.link(/Slot 7$/).waitFor();
  });

  it('The token of a link leaves the address and the history at once', async () => {
    const token = await signToken({ staffId: 1 });
    tab = await stage.openTab({ path: '/slots?from=link', token });
    await tab.link(/Slot 7$/).waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots?from=link`);
    const session = await tab.page.context().newCDPSession(tab.page);
    const { entries } = await session.send('Page.getNavigationHistory');
    expect(entries.map(({ url }) => url).filter((url) => url.includes(token))).toEqual([]);
  });

  it('The token is in no URL, in no cookie and not in local storage', async () => {
    const token = await signToken({ staffId: 1 });
    tab = await stage.openTab({ token: '' });
    const urls: string[] = [];
    tab.page.on('request', (request) => void urls.push(request.url()));
    await paste(token);
    await tab.link(/Slot 7$/).click();
    await tab.heading(/Slot 7/).waitFor();
    expect(urls.length).toBeGreaterThan(2);
    expect(urls.filter((url) => url.includes(token))).toEqual([]);
    expect(await tab.page.evaluate('Object.keys(localStorage)')).toEqual([]);
    expect(await tab.page.context().cookies()).toEqual([]);
  });

  it('A page without a provider does not fetch what signing in with one needs', async () => {
    tab = await stage.openTab({ token: '' });
    const urls: string[] = [];
    tab.page.on('request', (request) => void urls.push(request.url()));
    await tab.page.reload();
    await paste(await signToken({ staffId: 1 }));
    await tab.link(/Slot 7$/).waitFor();
    expect(urls.filter((url) => /oidc/.test(url))).toEqual([]);
  });

  it('A reload keeps the session', async () => {
    tab = await stage.openTab();
    await tab.link(/Slot 7$/).waitFor();
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
  });

  it('A link that is opened in a new tab has the session', async () => {
    tab = await stage.openTab();
    const opened = tab.page.context().waitForEvent('page');
    await tab.link(/Slot 7$/).click({ modifiers: ['ControlOrMeta'] });
    await new ConsoleTab(await opened).heading(/Slot 7/).waitFor();
  });

  it('A tab of another browser profile has no session', async () => {
    tab = await stage.openTab();
    await tab.link(/Slot 7$/).waitFor();
    const other = await stage.openTab({ token: '' });
    await other.field('Token').waitFor();
    await other.close();
  });

  it('A token that ends asks to sign in again over the page, and what was entered stays', async () => {
    const subject = 'staff-1';
    tab = await stage.openTab({ path: '/slots/new', token: await signToken({ staffId: 1, subject, expiresIn: 10 }) });
    await tab.field('Delivery time').fill('2030-01-02T10:00');
    await again(/Your session has ended/).waitFor();
    await paste(await signToken({ staffId: 1, subject }));
    await again(/ended/).waitFor({ state: 'hidden' });
    expect(await tab.field('Delivery time').inputValue()).toBe('2030-01-02T10:00');
  });

  it('A token that the services refuse asks for another one, and the page then shows what was refused', async () => {
    const key = 'another secret of more than thirty-two bytes, of nobody';
    tab = await stage.openTab({ token: await signToken({ staffId: 1, key }) });
    await again(/don’t accept this token/).waitFor();
    await paste(await signToken({ staffId: 1 }));
    await tab.link(/Slot 7$/).waitFor();
  });

  it('A token that is refused before its end, without a reason, asks to sign in again over the form, which is kept', async () => {
    tab = await stage.openTab({ path: '/coupons/new' });
    await tab.field('Percent off').fill('10');
    await tab.exactly('Everyone').click();
    await tab.page.route(/CouponService\/Create$/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 401, headers: { 'access-control-allow-origin': '*' } })
        : route.continue(),
    );
    await tab.button('Create coupon').click();
    await again(/Your sign-in is no longer accepted/).waitFor();
    await tab.page.unroute(/CouponService\/Create$/);
    await paste(await signToken({ staffId: 1, subject: 'staff-1' }));
    await again(/no longer accepted/).waitFor({ state: 'hidden' });
    await tab.button('Create coupon').click();
    await tab.heading(/^Coupon DC/).waitFor();
  });

  it.each([
    ['was cut off', async () => (await signToken({ staffId: 1 })).slice(0, 40), 'This link does not sign in'],
    ['has ended', () => signToken({ staffId: 1, expiresIn: -60 }), 'This link has ended'],
  ] as const)('A link whose token %s says why it does not sign in', async (_which, make, words) => {
    tab = await stage.openTab({ token: await make() });
    await tab.page.getByRole('alert').getByText(words).waitFor();
    expect(new URL(tab.page.url()).hash).toBe('');
    await paste(await signToken({ staffId: 1 }));
    await tab.link(/Slot 7$/).waitFor();
  });

  const notStaff = (page: Page) => page.getByText('This account is not staff');

  it.each([
    ['without a staff identity', undefined],
    ['of a staff user who was disabled', 3],
    ['of a staff user who does not exist', 99],
  ])('A token %s is told once, on top of the page', async (_whose, staffId) => {
    tab = await stage.openTab({ token: await signToken({ staffId }) });
    await notStaff(tab.page).waitFor();
    await tab.text('Only staff can see or do this.').first().waitFor();
    expect(await notStaff(tab.page).count()).toBe(1);
    expect(await tab.page.getByRole('alert').count()).toBe(0);
  });
});
