import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

/** Runs in the page before its own scripts: notes the longest task of the main thread, and when the first slot is shown. */
const watch = `
  window.tasksMs = [];
  new PerformanceObserver((list) => window.tasksMs.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: 'longtask', buffered: true });
  new MutationObserver(() => {
    if (window.firstMs === undefined && document.querySelector('a[href^="/slots/1"]')) {
      requestAnimationFrame(() => { window.firstMs ??= performance.now(); });
    }
  }).observe(document, { childList: true, subtree: true });
`;

describeInBrowser('The console with much', () => {
  let stage: ConsoleStage;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    // 1,000 slots in a week, 10 in an hour, and 10,000 in all.
    await stage.slot.database.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids)
       select 10000 + n, timestamptz '2090-05-01T02:30Z' + n % 7 * interval '1 day' + n / 7 % 14 * interval '1 hour', timestamptz '2090-04-30Z', '{1}'::integer[]
         from generate_series(0, 999) n
       union all select 10000 + n, timestamptz '2091-01-01Z' + n * interval '10 minutes', timestamptz '2090-04-30Z', '{1}'::integer[] from generate_series(1000, 9999) n`,
    );
    await stage.slot.database.sql('insert into product_slots select id, n from slots, generate_series(1, 4) n');
    await stage.slot.database.sql('analyze');
  });

  afterAll(() => stage.close());

  /** Opens a page on a phone at a fourth of the speed. */
  async function openOnPhone(path: string): Promise<ConsoleTab> {
    const tab = await stage.openTab({ path: '/healthz', viewport: { width: 360, height: 740 }, initScript: watch });
    const session: CDPSession = await tab.page.context().newCDPSession(tab.page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const token = tab.page.url().split('#')[1];
    await tab.page.goto(`${stage.origin}${path}#${token}`);
    return tab;
  }
  const figures = (tab: ConsoleTab) =>
    tab.page.evaluate<{ firstMs: number; longestMs: number; cards: number; rows: number }>(
      `({ firstMs: window.firstMs, longestMs: Math.max(0, ...window.tasksMs),
          cards: document.querySelectorAll('.slot-card').length, rows: document.querySelectorAll('tbody tr').length })`,
    );

  it('week', async () => {
    const tab = await openOnPhone('/slots?day=2090-05-01');
    await tab.link(/Slot 10000$/).waitFor();
    await tab.page.waitForTimeout(2000);
    console.info(await figures(tab));
    for (let n = 0; n < 20; n += 1) {
      await tab.page.mouse.wheel(0, 3000);
      await tab.page.waitForTimeout(100);
    }
    console.info(await figures(tab));
    await tab.close();
  });

  it('table', async () => {
    const tab = await openOnPhone('/slots/list?from=2090-05-01');
    await tab.link(/Slot 10000$/).waitFor();
    await tab.page.waitForTimeout(2000);
    console.info(await figures(tab));
    for (let n = 0; n < 300; n += 1) {
      await tab.page.mouse.wheel(0, 20000);
      await tab.page.waitForTimeout(50);
    }
    console.info(await figures(tab), await tab.page.locator('table').getAttribute('aria-rowcount'));
    await tab.close();
  }, 120_000);
});
