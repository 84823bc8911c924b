import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { overflow } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The look-up of users', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  const names = () => tab.page.getByRole('rowheader').allInnerTexts();

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    await stage.coupon.database.sql(
      `insert into users (name, mobile) select 'Zoya ' || lpad(n::text, 2, '0'), '80000000' || lpad(n::text, 2, '0')
       from generate_series(1, 60) n`,
    );
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  it('Staff find a user by a part of the name or of the mobile number', async () => {
    tab = await stage.openTab({ path: '/slots' });
    await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click();
    const field = tab.field('Search by name or mobile number');
    await field.pressSequentially('zoya 07');
    await expect.poll(names).toEqual(['Zoya 07']);
    expect(new URL(tab.page.url()).searchParams.get('search')).toBe('zoya 07');
    await field.fill('9000000003');
    await expect.poll(names).toEqual(['Unknown']);
    expect(await tab.page.getByRole('cell').allInnerTexts()).toEqual(['9000000003', '3']);
    await field.fill(' 90000 00003');
    await expect.poll(names).toEqual(['Unknown']);
    await field.fill('+91 90000-00002');
    await expect.poll(names).toEqual(['User 2']);
    await field.fill('nobody at all');
    await tab.page.getByText('Nobody was found.').waitFor();
  });

  it('All users can be saved as a CSV file, beyond the first page', async () => {
    tab = await stage.openTab({ path: '/users?search=zoya' });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    expect(lines).toHaveLength(61);
    expect(lines[60]).toMatch(/^Zoya 60,8000000060,\d+$/);
  });

  it('On a phone the list goes on, by name, until everybody was shown once', async () => {
    tab = await stage.openTab({ path: '/users', viewport: { width: 360, height: 740 } });
    await expect
      .poll(async () => {
        await tab.page.getByRole('rowheader').last().scrollIntoViewIfNeeded();
        return tab.page.getByRole('rowheader').count();
      })
      .toBe(65);
    const shown = await names();
    expect(new Set(shown).size).toBe(65);
    expect(shown).toEqual([...shown.slice(0, -1).sort(), 'Unknown']);
    await tab.button('Show more').waitFor({ state: 'detached' });
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
  });
});
