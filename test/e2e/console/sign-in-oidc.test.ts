import { expect, it } from 'vitest';
import { serviceResource } from '../../support/oidc-provider.ts';
import { ConsoleTab } from './console-tab.ts';
import { answer, atProvider, describeWithProvider } from './oidc-stage.ts';

describeWithProvider('Signing in with OpenID Connect', (oidc) => {
  const slotLink = (tab: ConsoleTab) => tab.link(/Slot 7$/);
  const stored = (tab: ConsoleTab) => tab.page.evaluate<string>('JSON.stringify(sessionStorage)');

  it('Staff who sign in come back to the address where they were, and their tokens are in no URL, cookie or local storage', async () => {
    const urls: string[] = [];
    const tab = await oidc.openTab('/slots?from=mail#today');
    tab.page.on('request', (request) => void urls.push(request.url()));
    await tab.button('Sign in').click();
    await atProvider(tab.page).waitFor();
    await answer(tab.page, 'asha');
    await slotLink(tab).waitFor();
    await tab.text('asha of the provider').waitFor();
    expect(tab.page.url()).toBe(`${oidc.stage.origin}/slots?from=mail#today`);
    expect(oidc.provider.grants).toEqual([{ type: 'authorization_code', resource: serviceResource }]);
    expect(await tab.page.evaluate('Object.keys(localStorage)')).toEqual([]);
    expect(urls.filter((url) => url.includes('eyJ'))).toEqual([]);
    expect(JSON.stringify(await tab.page.context().cookies())).not.toContain('eyJ');
    // A reload keeps the session, and the provider is not asked again.
    await tab.page.reload();
    await slotLink(tab).waitFor();
    expect(oidc.provider.grants).toHaveLength(1);
  });

  it('Where there is a provider, no token is asked for, none of a link is taken, and an answer that nobody has asked for signs nobody in', async () => {
    const tab = await oidc.stage.openTab({ token: 'e30.eyJzdWIiOiJ4IiwiZXhwIjo5OTk5OTk5OTk5fQ.x' });
    await tab.button('Sign in').waitFor();
    expect(await tab.field('Token').count()).toBe(0);
    expect(new URL(tab.page.url()).hash).toBe('');
    await tab.page.goto(`${oidc.stage.origin}/signed-in?code=stolen&state=unknown`);
    await tab.text('This sign-in is no longer valid').waitFor();
    expect(tab.page.url()).toBe(`${oidc.stage.origin}/`);
    await tab.button('Sign in').waitFor();
    expect(oidc.provider.grants).toEqual([]);
  });

  it('A person whom the provider does not let in is told so, where they were', async () => {
    const tab = await oidc.openTab('/slots/7');
    await tab.button('Sign in').click();
    await tab.button('Cancel').click();
    await tab.text('You weren’t signed in').waitFor();
    expect(tab.page.url()).toBe(`${oidc.stage.origin}/slots/7`);
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await tab.button(/^Mark full/).waitFor();
  });

  it('An invented answer of the provider does not use up what this tab has stored', async () => {
    const tab = await oidc.signIn();
    await slotLink(tab).waitFor();
    const keys = () =>
      tab.page.evaluate<string[]>('Object.keys(sessionStorage).filter((name) => name.includes("user:"))');
    const [key = ''] = await keys();
    const state = encodeURIComponent(key.replace(/^oidc\./, ''));
    await tab.page.goto(`${oidc.stage.origin}/signed-in?code=x&state=${state}`);
    await tab.text('This sign-in is no longer valid').or(tab.heading('Overview')).first().waitFor();
    expect(await keys()).toEqual([key]);
  });

  it('A provider that can’t be reached is told, and works once it is back', async () => {
    const tab = await oidc.openTab();
    await oidc.provider.goAway();
    await tab.button('Sign in').click();
    await tab.text('The sign-in service can’t be reached').waitFor();
    await oidc.provider.comeBack();
    await tab.button('Sign in').click();
    await answer(tab.page, 'asha');
    await slotLink(tab).waitFor();
  });

  it('An account that is no staff is told so on top of the page', async () => {
    oidc.provider.behaviour.staffIdOf = () => undefined;
    const tab = await oidc.signIn('/slots', 'guest');
    await tab.text('This account is not staff').waitFor();
  });

  it('An account that the services don’t accept is told to see an administrator, and not to sign in again', async () => {
    oidc.provider.behaviour.staffIdOf = () => '1';
    const tab = await oidc.signIn();
    const dialog = tab.page.getByRole('alertdialog', { name: 'You’re signed in, but your sign-in isn’t accepted' });
    await dialog.getByText('Ask an administrator').waitFor();
    expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['Sign out']);
  });

  it('Instead of a name that is no text, that of the staff user is shown', async () => {
    oidc.provider.behaviour.nameOf = () => ({ first: 'Asha' });
    const tab = await oidc.signIn();
    await tab.page.locator('.account').getByText('Asha Menon', { exact: true }).waitFor();
  });

  it('Signing out while the provider does not answer leaves no token in the tab', async () => {
    const tab = await oidc.signIn();
    await slotLink(tab).waitFor();
    await tab.page.route(/openid-configuration/, () => undefined);
    await tab.page.reload();
    await slotLink(tab).waitFor();
    await tab.button('Sign out').click();
    await expect.poll(() => stored(tab)).not.toContain('eyJ');
  });

  it('Signing out ends the session at the provider, and in the other tabs', async () => {
    const tab = await oidc.signIn();
    await slotLink(tab).waitFor();
    const other = new ConsoleTab(await tab.page.context().newPage());
    await other.page.goto(`${oidc.stage.origin}/slots`);
    await slotLink(other).waitFor();
    await tab.button('Sign out').click();
    await tab.heading('Sign out of the provider?').waitFor();
    await tab.button('Yes').click();
    await tab.button('Sign in').waitFor();
    expect(tab.page.url()).toBe(`${oidc.stage.origin}/`);
    await other.button('Sign in').click();
    await atProvider(other.page).waitFor();
    expect(await stored(tab)).not.toContain('eyJ');
    expect(await stored(other)).not.toContain('eyJ');
  });
});
