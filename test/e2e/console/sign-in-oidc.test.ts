import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type OidcProvider, serviceResource } from '../../support/oidc-provider.ts';
import { describeInBrowser } from '../browser.ts';
import { ConsoleTab } from './console-tab.ts';
import { answer, atProvider, OidcStage } from './oidc-stage.ts';
import type { ConsoleStage } from './stage.ts';

describeInBrowser('Signing in with OpenID Connect', () => {
  let oidc: OidcStage;
  let provider: OidcProvider;
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    oidc = await OidcStage.open();
    ({ provider, stage } = oidc);
  });

  beforeEach(() => oidc.reset());

  afterEach(() => tab.close());

  afterAll(() => oidc.close());

  it('Staff who sign in come back to the address where they were, and its lists load', async () => {
    tab = await oidc.openTab('/slots?from=mail#today');
    await tab.button('Sign in').click();
    await atProvider(tab.page).waitFor();
    await answer(tab.page, 'asha');
    await tab.link(/Slot 7$/).waitFor();
    await tab.page.getByText('asha of the provider').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots?from=mail#today`);
    expect(provider.grants).toEqual([{ type: 'authorization_code', resource: serviceResource }]);
  });

  it('Where there is a provider, no token is asked for, and none of a link is taken', async () => {
    tab = await stage.openTab({ token: 'e30.eyJzdWIiOiJ4IiwiZXhwIjo5OTk5OTk5OTk5fQ.x' });
    await tab.button('Sign in').waitFor();
    expect(await tab.field('Token').count()).toBe(0);
    expect(new URL(tab.page.url()).hash).toBe('');
  });

  it('The tokens of the provider are in no URL, in no cookie of the console and not in local storage', async () => {
    const urls: string[] = [];
    tab = await oidc.openTab();
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
    tab = await oidc.signIn('/slots');
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
    expect(provider.grants).toHaveLength(1);
  });

  it('A person whom the provider does not let in is told so, where they were', async () => {
    tab = await oidc.openTab('/slots/7');
    await tab.button('Sign in').click();
    await tab.button('Cancel').click();
    await tab.page.getByText('The sign-in service has not let you in').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/slots/7`);
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await tab.heading(/Slot 7/).waitFor();
  });

  it('An answer of the provider that nobody has asked for signs nobody in', async () => {
    tab = await oidc.openTab('/signed-in?code=stolen&state=unknown');
    await tab.page.getByText('This sign-in is no longer valid').waitFor();
    expect(tab.page.url()).toBe(`${stage.origin}/`);
    await tab.button('Sign in').waitFor();
    expect(provider.grants).toEqual([]);
  });

  it('A provider that can’t be reached is told, and works once it is back', async () => {
    tab = await oidc.openTab();
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
    tab = await oidc.signIn('/slots', 'guest');
    await tab.page.getByText('This account is not staff').waitFor();
  });

  it('An account that the services don’t accept is told to see an administrator, and not to sign in again', async () => {
    provider.behaviour.staffIdOf = () => '1';
    tab = await oidc.openTab('/slots');
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    const dialog = tab.page.getByRole('alertdialog', { name: 'You are signed in, but the services don’t accept it' });
    await dialog.getByText('Tell an administrator').waitFor();
    expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['Sign out']);
  });

  it('Instead of a name that is no text, that of the staff user is shown', async () => {
    provider.behaviour.nameOf = () => ({ first: 'Asha' });
    tab = await oidc.openTab('/slots');
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await tab.link(/Slot 7$/).waitFor();
    await tab.page.locator('.account').getByText('Asha Menon', { exact: true }).waitFor();
  });

  it('An invented answer of the provider does not use up what this tab has stored', async () => {
    tab = await oidc.signIn('/slots');
    const stored = () =>
      tab.page.evaluate<string[]>('Object.keys(sessionStorage).filter((name) => name.includes("user:"))');
    const [key = ''] = await stored();
    await tab.page.goto(`${stage.origin}/signed-in?code=x&state=${encodeURIComponent(key.replace(/^oidc\\./, ''))}`);
    await tab.page
      .getByText('This sign-in is no longer valid')
      .or(tab.link(/Slot 7$/))
      .first()
      .waitFor();
    expect(await stored()).toEqual([key]);
  });

  it('Signing out while the provider does not answer leaves no token in the tab', async () => {
    tab = await oidc.signIn('/slots');
    await tab.page.route(/openid-configuration/, () => undefined);
    await tab.page.reload();
    await tab.link(/Slot 7$/).waitFor();
    await tab.button('Sign out').click();
    await expect.poll(() => tab.page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('eyJ');
    await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('Signing out ends the session at the provider, and in the other tabs', async () => {
    tab = await oidc.signIn('/slots');
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
});
