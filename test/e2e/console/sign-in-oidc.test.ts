import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { OidcProvider, serviceResource } from '../../support/oidc-provider.ts';
import { describeInBrowser } from '../browser.ts';
import { ConsoleTab } from './console-tab.ts';
import { ConsoleStage, type TabOptions } from './stage.ts';

describeInBrowser('Signing in with OpenID Connect', () => {
  let provider: OidcProvider;
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    provider = await OidcProvider.start();
    stage = await ConsoleStage.open(provider.variables, provider.auth);
    await provider.register(stage.origin);
    await stage.slot.database.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
    );
  });

  beforeEach(() => {
    Object.assign(provider.behaviour, { tokenSeconds: 3_600, givesRefreshTokens: false, isolatesWindows: false });
    provider.behaviour.staffIdOf = () => 1;
    provider.grants.length = 0;
  });

  afterEach(() => tab.close());

  afterAll(async () => {
    await stage.close();
    provider.close();
  });

  const open = (options: TabOptions = {}) => stage.openTab({ token: '', ...options });

  const atProvider = (page: Page) => page.getByRole('heading', { name: 'The provider', exact: true });

  /** What a person does at the provider, in the page or in a window of its own. */
  const answer = async (page: Page, name: string) => {
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  const signIn = async (path: string, name = 'asha') => {
    tab = await open({ path });
    await tab.button('Sign in').click();
    await answer(tab.page, name);
    await tab.page.getByText(`${name} of the provider`).waitFor();
  };

  const again = () => tab.page.getByRole('alertdialog', { name: 'Your session has ended' });

  /** The window that opens for signing in. */
  const openWindow = async (): Promise<Page> => {
    const [page] = await Promise.all([
      tab.page.waitForEvent('popup'),
      again().getByRole('button', { name: 'Sign in', exact: true }).click(),
    ]);
    return page;
  };

  it('Staff who sign in come back to the address where they were, and its lists load', async () => {
    tab = await open({ path: '/slots?from=mail#today' });
    await tab.button('Sign in').click();
    await atProvider(tab.page).waitFor();
    await answer(tab.page, 'asha');
    await tab.link(/Slot 7$/).waitFor();
    await tab.page.getByText('asha of the provider').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots?from=mail#today`);
    expect(provider.grants).toEqual([{ type: 'authorization_code', resource: serviceResource }]);
  });

  it('Where there is a provider, no token is asked for, and none of a link is taken', async () => {
    tab = await open({ token: 'e30.eyJzdWIiOiJ4IiwiZXhwIjo5OTk5OTk5OTk5fQ.x' });
    await tab.button('Sign in').waitFor();
    expect(await tab.field('Token').count()).toBe(0);
    expect(new URL(tab.page.url()).hash).toBe('');
  });

  it('The tokens of the provider are in no URL, in no cookie of the console and not in local storage', async () => {
    const urls: string[] = [];
    tab = await open();
    tab.page.on('request', (request) => void urls.push(request.url()));
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await tab.link(/Slot 7$/).waitFor();
    expect(await tab.page.evaluate('Object.keys(localStorage)')).toEqual([]);
    expect(urls.filter((url) => url.includes('eyJ'))).toEqual([]);
    const cookies = await tab.page.context().cookies();
    expect(JSON.stringify(cookies)).not.toContain('eyJ');
  });

  it('A reload keeps the session, and the provider is not asked again', async () => {
    await signIn('/slots');
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
    expect(provider.grants).toHaveLength(1);
  });

  it('A person whom the provider does not let in is told so, where they were', async () => {
    tab = await open({ path: '/slots/7' });
    await tab.button('Sign in').click();
    await tab.button('Cancel').click();
    await tab.page.getByText('The sign-in service has not let you in').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots/7`);
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await tab.heading(/Slot 7/).waitFor();
  });

  it('An answer of the provider that nobody has asked for signs nobody in', async () => {
    tab = await open({ path: '/signed-in?code=stolen&state=unknown' });
    await tab.page.getByText('This sign-in is no longer valid').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/`);
    await tab.button('Sign in').waitFor();
    expect(provider.grants).toEqual([]);
  });

  it('A provider that can’t be reached is told, and works once it is back', async () => {
    tab = await open();
    await provider.goAway();
    await tab.button('Sign in').click();
    await tab.page.getByText('The sign-in service can’t be reached').waitFor();
    await provider.comeBack();
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await tab.link(/Slot 7$/).waitFor();
  });

  it('An account that is no staff is told so on top of the page', async () => {
    provider.behaviour.staffIdOf = () => undefined;
    await signIn('/slots', 'guest');
    await tab.page.getByText('This account is not staff').waitFor();
  });

  it.each([
    ['keeps the tie to its window', false],
    ['cuts the tie to its window', true],
  ])('A session that ends goes on by a window over the page, also if the provider %s', async (_what, isolates) => {
    provider.behaviour.tokenSeconds = 10;
    provider.behaviour.isolatesWindows = isolates;
    await signIn('/slots/new');
    await tab.field('Delivery time').fill('2030-01-02T10:00');
    await again().waitFor();
    provider.behaviour.tokenSeconds = 3_600;
    await tab.page.context().clearCookies();
    const window = await openWindow();
    await tab.page.getByText('Go on in the window that has opened').waitFor();
    await Promise.all([window.waitForEvent('close'), answer(window, 'asha')]);
    await again().waitFor({ state: 'hidden' });
    expect(await tab.field('Delivery time').inputValue()).toBe('2030-01-02T10:00');
    expect(provider.grants.map(({ type }) => type)).toEqual(['authorization_code', 'authorization_code']);
  });

  it('A person who cancels in the window, or closes it, can try again', async () => {
    provider.behaviour.tokenSeconds = 3;
    await signIn('/slots');
    await again().waitFor();
    provider.behaviour.tokenSeconds = 3_600;
    await tab.page.context().clearCookies();
    const canceled = await openWindow();
    await canceled.getByRole('button', { name: 'Cancel' }).click();
    await again().getByText('The sign-in service has not let you in').waitFor();
    const closed = await openWindow();
    await atProvider(closed).waitFor();
    await closed.close();
    await answer(await openWindow(), 'asha');
    await again().waitFor({ state: 'hidden' });
    await tab.link(/Slot 7$/).waitFor();
  });

  it('A browser that blocks the window is told, and the page itself leads to the provider and back', async () => {
    provider.behaviour.tokenSeconds = 5;
    await signIn('/slots');
    // What a browser answers that blocks a window: this one is started without its blocker.
    await tab.page.evaluate('window.open = () => null');
    await again().waitFor();
    provider.behaviour.tokenSeconds = 3_600;
    await again().getByRole('button', { name: 'Sign in', exact: true }).click();
    await again().getByText('Your browser has blocked the window').waitFor();
    await tab.button('Leave this page to sign in').click();
    await tab.link(/Slot 7$/).waitFor();
    await again().waitFor({ state: 'hidden' });
    expect(tab.page.url()).toBe(`${stage.origin}/slots`);
  });

  it('A refresh token renews the session without a question', async () => {
    Object.assign(provider.behaviour, { tokenSeconds: 6, givesRefreshTokens: true });
    await signIn('/slots/new');
    await tab.field('Delivery time').fill('2030-01-02T10:00');
    await expect.poll(() => provider.grants.length).toBeGreaterThan(3);
    expect(provider.grants.slice(1).map(({ type }) => type)).not.toContain('authorization_code');
    expect(provider.grants.map(({ resource }) => resource)).toEqual(provider.grants.map(() => serviceResource));
    expect(await tab.page.getByRole('alertdialog').count()).toBe(0);
    expect(await tab.page.getByText(/Your session ends in/).count()).toBe(0);
    expect(await tab.field('Delivery time').inputValue()).toBe('2030-01-02T10:00');
    await tab.page.reload();
    const before = provider.grants.length;
    await expect.poll(() => provider.grants.length).toBeGreaterThan(before + 1);
  });

  it('A provider that is away for a while is asked for a new token until it is back', async () => {
    Object.assign(provider.behaviour, { tokenSeconds: 9, givesRefreshTokens: true });
    await signIn('/slots');
    await provider.goAway();
    await again().waitFor();
    await provider.comeBack();
    await expect.poll(() => provider.grants.at(-1)?.type).toBe('refresh_token');
    await again().waitFor({ state: 'hidden' });
    await tab.link(/Slot 7$/).waitFor();
  });

  it('A tab that another one has let in follows its renewals, and never renews itself', async () => {
    Object.assign(provider.behaviour, { tokenSeconds: 10, givesRefreshTokens: true });
    await signIn('/slots');
    const page = await tab.page.context().newPage();
    await page.goto(`${stage.origin}/slots`);
    const other = new ConsoleTab(page);
    await other.link(/Slot 7$/).waitFor();
    const stored = 'JSON.stringify(sessionStorage)';
    expect(await page.evaluate(stored)).not.toContain('refresh_token');
    const first = await page.evaluate(stored);
    await expect.poll(() => page.evaluate(stored)).not.toBe(first);
    expect(await page.getByRole('alertdialog').count()).toBe(0);
  });

  it('Signing out ends the session at the provider, and in the other tabs', async () => {
    await signIn('/slots');
    const page = await tab.page.context().newPage();
    await page.goto(`${stage.origin}/slots`);
    const other = new ConsoleTab(page);
    await other.link(/Slot 7$/).waitFor();
    await tab.button('Sign out').click();
    await tab.heading('Sign out of the provider?').waitFor();
    await tab.button('Yes').click();
    await tab.button('Sign in').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/`);
    await other.button('Sign in').click();
    await atProvider(page).waitFor();
    expect(await tab.page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('eyJ');
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('eyJ');
  });

  it('Signing out while the provider is away signs out here, and says what is left', async () => {
    await signIn('/slots');
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
    await provider.goAway();
    await tab.button('Sign out').click();
    await tab.page.getByText('You are signed out here, but maybe not at the sign-in service').waitFor();
    await provider.comeBack();
    expect(await tab.page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('eyJ');
  });
});
