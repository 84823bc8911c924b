import { expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('The end of a session with a token', (stage, tab) => {
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
  );

  const paste = async (text: string) => {
    await tab.field('Token').fill(text);
    await tab.click('Sign in');
  };

  /** Another tab of the same browser profile. */
  const openAnother = async (path: string): Promise<ConsoleTab> => {
    const other = new ConsoleTab(await tab.page.context().newPage());
    await other.page.goto(stage.origin + path);
    return other;
  };

  const again = (name: RegExp) => tab.page.getByRole('alertdialog', { name });

  it('Signing out signs out the other tabs of the same person, and none of another', async () => {
    await tab.open();
    await tab.link(/Slot 7$/).waitFor();
    const same = await openAnother('/slots');
    await same.link(/Slot 7$/).waitFor();
    const other = await openAnother(`/slots#token=${await signToken({ staffId: 2, subject: 'staff-2' })}`);
    await other.link(/Slot 7$/).waitFor();
    await tab.click('Sign out', tab.field('Token'));
    await same.field('Token').waitFor();
    await other.page.reload();
    await other.link(/Slot 7$/).waitFor();
    await same.page.reload();
    await same.field('Token').waitFor();
  });

  it('Staff who sign in again are signed in again in their other tabs', async () => {
    const subject = 'staff-1';
    await tab.open('/slots', { token: await signToken({ staffId: 1, subject, expiresIn: 8 }) });
    const same = await openAnother('/slots');
    await again(/Your session has ended/).waitFor();
    await paste(await signToken({ staffId: 1, subject }));
    await same.link(/Slot 7$/).waitFor();
    await expect.poll(() => same.page.getByRole('alertdialog').count()).toBe(0);
    await same.page.reload();
    await same.link(/Slot 7$/).waitFor();
  });

  it('Another person who signs in over the page sees nothing of what was entered', async () => {
    await tab.open('/slots/new', { token: await signToken({ staffId: 1, expiresIn: 10 }) });
    await tab.time('Delivery time').fill('2030-01-02T10:00');
    await again(/Your session has ended/).waitFor();
    await paste(await signToken({ staffId: 2, subject: 'staff-2' }));
    await again(/ended/).waitFor({ state: 'hidden' });
    await expect.poll(() => tab.time('Delivery time').inputValue()).not.toBe('2030-01-02T10:00');
  });

  it('A session that ends within five minutes says so, and can be lengthened without leaving the page', async () => {
    await tab.open('/slots/new', { token: await signToken({ staffId: 1, expiresIn: 240 }) });
    await tab.time('Delivery time').fill('2030-01-02T10:00');
    const notice = tab.text(/Your session ends in \d min/);
    await notice.waitFor();
    await tab.click('Sign in again');
    await paste(await signToken({ staffId: 1 }));
    await notice.waitFor({ state: 'hidden' });
    expect(await tab.time('Delivery time').inputValue()).toBe('2030-01-02T10:00');
  });
});
