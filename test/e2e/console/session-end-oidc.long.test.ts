import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { serviceResource } from '../../support/oidc-provider.ts';
import { ConsoleTab } from './console-tab.ts';
import { answer, atProvider, describeWithProvider } from './oidc-stage.ts';

describeWithProvider('The end of a session with OpenID Connect', (oidc) => {
  let tab: ConsoleTab;

  const again = () => tab.page.getByRole('alertdialog', { name: 'Your session has ended' });

  const slotLink = (tab: ConsoleTab) => tab.link(/Slot 7$/);
  /** The window that opens for signing in. */
  const openWindow = async (): Promise<Page> => {
    const [page] = await Promise.all([
      tab.page.waitForEvent('popup'),
      again().getByRole('button', { name: 'Sign in', exact: true }).click(),
    ]);
    return page;
  };

  it.each([
    ['keeps the tie to its window', false],
    ['cuts the tie to its window', true],
  ])('A session that ends goes on by a window over the page, also if the provider %s', async (_what, isolates) => {
    oidc.provider.behaviour.tokenSeconds = 10;
    oidc.provider.behaviour.isolatesWindows = isolates;
    tab = await oidc.signIn('/slots/new');
    await tab.time('Delivery time').fill('2030-01-02T10:00');
    await again().waitFor();
    oidc.provider.behaviour.tokenSeconds = 3_600;
    await tab.page.context().clearCookies();
    const window = await openWindow();
    await tab.text('Continue in the window that opened').waitFor();
    await Promise.all([window.waitForEvent('close'), answer(window, 'asha')]);
    await again().waitFor({ state: 'hidden' });
    expect(await tab.time('Delivery time').inputValue()).toBe('2030-01-02T10:00');
    expect(oidc.provider.grants.map(({ type }) => type)).toEqual(['authorization_code', 'authorization_code']);
  });

  it('A person who cancels in the window, or closes it, can try again', async () => {
    oidc.provider.behaviour.tokenSeconds = 3;
    tab = await oidc.signIn();
    await again().waitFor();
    oidc.provider.behaviour.tokenSeconds = 3_600;
    await tab.page.context().clearCookies();
    const canceled = await openWindow();
    await canceled.getByRole('button', { name: 'Cancel' }).click();
    await again().getByText('You weren’t signed in').waitFor();
    const closed = await openWindow();
    await atProvider(closed).waitFor();
    await closed.close();
    await answer(await openWindow(), 'asha');
    await again().waitFor({ state: 'hidden' });
    await slotLink(tab).waitFor();
  });

  it('A browser that blocks the window is told, and the page itself leads to the provider and back', async () => {
    oidc.provider.behaviour.tokenSeconds = 5;
    tab = await oidc.signIn();
    // What a browser answers that blocks a window: this one is started without its blocker.
    await tab.page.evaluate('window.open = () => null');
    await again().waitFor();
    oidc.provider.behaviour.tokenSeconds = 3_600;
    await again().getByRole('button', { name: 'Sign in', exact: true }).click();
    await again().getByText('Your browser blocked the sign-in window').waitFor();
    await tab.button('Leave this page to sign in').click();
    await slotLink(tab).waitFor();
    await again().waitFor({ state: 'hidden' });
    expect(tab.page.url()).toBe(`${oidc.stage.origin}/slots`);
  });

  it('A refresh token renews the session without a question', async () => {
    Object.assign(oidc.provider.behaviour, { tokenSeconds: 6, givesRefreshTokens: true });
    tab = await oidc.signIn('/slots/new');
    await tab.time('Delivery time').fill('2030-01-02T10:00');
    await expect.poll(() => oidc.provider.grants.length).toBeGreaterThan(3);
    expect(oidc.provider.grants.slice(1).map(({ type }) => type)).not.toContain('authorization_code');
    expect(oidc.provider.grants.map(({ resource }) => resource)).toEqual(
      oidc.provider.grants.map(() => serviceResource),
    );
    expect(await tab.page.getByRole('alertdialog').count()).toBe(0);
    expect(await tab.text(/Your session ends in/).count()).toBe(0);
    expect(await tab.time('Delivery time').inputValue()).toBe('2030-01-02T10:00');
    await tab.page.reload();
    const before = oidc.provider.grants.length;
    await expect.poll(() => oidc.provider.grants.length).toBeGreaterThan(before + 1);
  });

  it('A provider that is away for a while is asked for a new token until it is back', async () => {
    Object.assign(oidc.provider.behaviour, { tokenSeconds: 9, givesRefreshTokens: true });
    tab = await oidc.signIn();
    await oidc.provider.goAway();
    await again().waitFor();
    await oidc.provider.comeBack();
    await expect.poll(() => oidc.provider.grants.at(-1)?.type).toBe('refresh_token');
    await again().waitFor({ state: 'hidden' });
    await slotLink(tab).waitFor();
  });

  it('A tab that another one has let in follows its renewals, and never renews itself', async () => {
    Object.assign(oidc.provider.behaviour, { tokenSeconds: 10, givesRefreshTokens: true });
    tab = await oidc.signIn();
    const { page } = tab;
    const other = new ConsoleTab(await page.context().newPage());
    await other.page.goto(page.url());
    await slotLink(other).waitFor();
    const stored = 'JSON.stringify(sessionStorage)';
    const first = await other.page.evaluate(stored);
    expect(first).not.toContain('refresh_token');
    await expect.poll(() => other.page.evaluate(stored)).not.toBe(first);
    expect(await other.page.getByRole('alertdialog').count()).toBe(0);
  });

  it('Signing out while the provider is away signs out here, and says what is left', async () => {
    tab = await oidc.signIn();
    await tab.page.reload();
    await slotLink(tab).waitFor();
    await oidc.provider.goAway();
    await tab.button('Sign out').click();
    await tab.text('You may still be signed in at the sign-in service').waitFor();
    await oidc.provider.comeBack();
    expect(await tab.page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('eyJ');
  });
});
