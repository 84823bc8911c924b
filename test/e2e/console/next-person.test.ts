import { beforeAll, expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('Two people who use one tab after another', (stage) => {
  let tab: ConsoleTab;

  beforeAll(async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time)
       select n, now() + interval '2 hours', now() + interval '1 hour' from generate_series(7, 8) n`,
    );
  });

  const changeOver = async () => {
    await tab.button('Sign out').click();
    await tab.field('Token').fill(await signToken({ staffId: 2, subject: 'staff-2' }));
    await tab.button('Sign in').click();
    await tab.button(/^Mark full|^Open again/).waitFor();
  };

  it('The second is not told what the first has done, and can’t undo it', async () => {
    tab = await stage.openTab({ path: '/slots/7' });
    await tab.button('Mark full: slot 7').click();
    await tab.notice('Slot 7').waitFor();
    await changeOver();
    expect(await tab.notice('Slot 7').count()).toBe(0);
  });

  it('What the first has sent is not sent again in the name of the second', async () => {
    tab = await stage.openTab({ path: '/slots/8' });
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
    await tab.button('Mark full: slot 8').click();
    await expect.poll(() => keys.length).toBe(1);
    await changeOver();
    end();
    // By the time that this one has been given up, that of the first has been tried again, too.
    await tab.button('Mark full: slot 8').click();
    await tab.text('The service can’t be reached').waitFor();
    expect(keys.filter((key) => key === keys[0])).toHaveLength(1);
  });
});
