import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signToken } from '../support/tokens.ts';
import { describeInBrowser } from './browser.ts';
import { expectText, type StaffPage } from './staff-page.ts';
import { Stage } from './stage.ts';

describeInBrowser('The derived stores on a page of another origin', () => {
  let stage: Stage;
  let token: string;

  beforeAll(async () => {
    [stage, token] = await Promise.all([Stage.open(), signToken({ staffId: 1 })]);
  });

  afterAll(() => stage.close());

  describe.each(['Connect', 'gRPC-Web'])('over %s', (protocol) => {
    let page: StaffPage;

    beforeEach(async () => {
      page = await stage.openPage();
      await page.logIn(protocol, token);
      await expectText(page.status).toBe('Logged in');
      return () => page.close();
    });

    it('A page on another origin reads the stores with the write that it has just made', async () => {
      await page.createSlot({ products: '7, 8' });
      await expectText(page.status).toBe('Slot created successfully');
      const [slot] = await stage.slot.database.sql<{ id: number }>('select max(id) as id from slots');
      const read = page.page.waitForRequest(/GetOpenSlots/);
      await page.press('Read stores');
      expect((await read).headers()['store-request-id']).toMatch(/^\d+$/);
      await expectText(page.status).toMatch(/^Version \d+$/);
      expect(await page.items('Open slots').allInnerTexts()).toContain(`Slot ${slot?.id}, products 7, 8`);
    });

    it('A page on another origin watches the stores from the current version until it stops', async () => {
      const ended = () => stage.slot.log.filter(({ msg, method }) => msg === 'call' && /WatchStore$/.test(`${method}`));
      const before = ended().length;
      await page.press('Read stores');
      await expectText(page.status).toMatch(/^Version \d+$/);
      const version = Number((await page.status.innerText()).slice('Version '.length));
      await page.press('Watch');
      const shown = () => expect.poll(() => page.items('Versions').allInnerTexts());
      await shown().toEqual([`${version}`]);
      await page.createSlot({});
      await shown().toEqual([`${version}`, `${version + 1}`]);
      await page.press('Stop watching');
      await expectText(page.status).toBe('Watching ended');
      await expect.poll(() => ended().slice(before)).toMatchObject([{ code: 'CANCELED' }]);
    });
  });
});
