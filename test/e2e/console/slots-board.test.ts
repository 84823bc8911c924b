import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('The board of slots', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  it('Staff who open the link see the slots of the next days', async () => {
    await stage.slot.database.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, now() + interval '2 hours', now() + interval '1 hour')`,
    );
    tab = await stage.openTab({});
    await tab.link('Slot 7').waitFor();
    expect(new URL(tab.page.url()).hash).toBe('');
    await tab.page.screenshot({ path: '/tmp/shots/board.png', fullPage: true });
  });
});
