import { readFile } from 'node:fs/promises';
import { fromBinary } from '@bufbuild/protobuf';
import type { Request } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { ListSlotsRequestSchema } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('The lists of slots', (stage) => {
  let tab: ConsoleTab;

  beforeEach(async () => {
    await stage.sql('truncate slots cascade; truncate product_slots');
  });

  /** Inserts slots with ids from 1, an hour apart, from 1 May 2090 in the business's zone. */
  const insertSlots = (count: number) =>
    stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, is_active)
       select n, t, t - interval '1 hour', case when n % 2 = 0 then '{2}'::integer[] else '{3}' end, n <> 3
       from generate_series(1, ${count}) n, lateral (select '2090-05-01T00:00+05:30'::timestamptz + n * interval '1 hour' as t) at`,
    );
  const rows = () => tab.page.getByRole('rowheader').allInnerTexts();

  /** Saves the list as CSV, and returns the ids in the file. */
  async function savedIds(): Promise<number[]> {
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n').slice(1);
    return lines.map((line) => Number(line.split(',')[0]));
  }

  /** Whether a request is for the second page of what is saved as CSV. */
  function isSecondPage(request: Request): boolean {
    const { limit, pageToken } = fromBinary(ListSlotsRequestSchema, request.postDataBuffer() ?? new Uint8Array());
    return limit === 1_000 && pageToken !== '';
  }

  it('A deactivated slot is found on the board and in the list, also after a reload', async () => {
    await insertSlots(4);
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    await tab.link(/Slot 2$/).waitFor();
    expect(await tab.link(/Slot 3$/).count()).toBe(0);
    await tab.text('Deactivated ones, too').click();
    await tab.link(/Slot 3$/).waitFor();
    await tab.page.reload();
    await tab.link(/Slot 3$/).waitFor();
    await tab.link('List').click();
    // The board, which is still shown for a moment, has a field From as well.
    await tab.field('To').waitFor();
    await tab.field('From').fill('2090-05-01');
    await tab.button(/State$/).click();
    await tab.page.getByRole('option', { name: 'Deactivated' }).click();
    await expect.poll(rows).toEqual(['Slot 3']);
    expect(new URL(tab.page.url()).searchParams.get('state')).toBe('deactivated');
    await tab.page.reload();
    await expect.poll(rows).toEqual(['Slot 3']);
  });

  it('Product, group and days filter the list, and stand in the address', async () => {
    await insertSlots(30);
    await stage.sql('insert into product_slots values (2, 4), (5, 4), (28, 4)');
    tab = await stage.openTab({ path: '/slots/list?from=2090-05-01' });
    await tab.button('Product: any').click();
    await tab.pick('Product', 'Product 4');
    await expect.poll(rows).toEqual(['Slot 2', 'Slot 5', 'Slot 28']);
    await tab.button(/Group$/).click();
    await tab.page.getByRole('option', { name: 'Group 2' }).click();
    await expect.poll(rows).toEqual(['Slot 2', 'Slot 28']);
    await tab.field('To').fill('2090-05-01');
    await expect.poll(rows).toEqual(['Slot 2']);
    expect(new URL(tab.page.url()).search).toBe('?from=2090-05-01&product=4&group=2&until=2090-05-01');
    await tab.page.reload();
    await expect.poll(rows).toEqual(['Slot 2']);
  });

  it('A CSV file has all slots as they are filtered, across pages', async () => {
    await insertSlots(2_400);
    tab = await stage.openTab({ path: '/slots/list?from=2090-05-01&group=2' });
    await tab.link('Slot 2').waitFor();
    expect(await savedIds()).toEqual(Array.from({ length: 1_200 }, (_, n) => 2 * n + 2));
  });

  it('Saving a CSV file can be stopped while it reads, and begun again', async () => {
    await insertSlots(1_200);
    // Pages are told apart by more than the time of delivery.
    await stage.sql(`update slots set delivery_time = '2090-05-01T10:00+05:30', is_active = true`);
    tab = await stage.openTab({ path: '/slots/list?from=2090-05-01' });
    await tab.link('Slot 1').waitFor();
    const downloads: string[] = [];
    tab.page.on('download', (download) => downloads.push(download.suggestedFilename()));
    await tab.page.route(/ListSlots/, (route) => (isSecondPage(route.request()) ? undefined : route.continue()));
    await tab.button('Save as CSV').click();
    await tab.text('Reading: 1,000 rows').waitFor();
    await tab.button('Stop').click();
    await tab.button('Save as CSV').waitFor();
    expect(await tab.page.getByRole('alert').count()).toBe(0);
    await tab.page.unroute(/ListSlots/);
    expect(await savedIds()).toEqual(Array.from({ length: 1_200 }, (_, n) => n + 1));
    expect(downloads).toHaveLength(1);
  });

  it('A day without slots is shown, and a slot is added to it', async () => {
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    await tab.link('Add a slot on Wednesday 3 May').click();
    await expect.poll(() => tab.field('Delivery time').inputValue()).toBe('2090-05-03T10:00');
  });

  it('On a phone the first slot is in the upper half, and nothing is cut off', async () => {
    await insertSlots(4);
    tab = await stage.openTab({ path: '/slots?day=2090-05-01', viewport: { width: 360, height: 740 }, hasTouch: true });
    await tab.link(/Slot 1$/).waitFor();
    const box = await tab.page.locator('.slot-card').first().boundingBox();
    expect(box?.y).toBeLessThan(370);
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });
});
