import type { Client } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { openSlot } from '../../support/slot-writes.ts';
import { colleague } from './clients.ts';
import { describeConsole } from './stage.ts';

describeConsole('The live page', (stage, tab) => {
  let slots: Client<typeof SlotService>;

  beforeAll(async () => {
    slots = await colleague(stage.slot, SlotService, 2);
  });

  // Each test has the storefront to itself.
  beforeEach(async () => {
    await stage.sql(`with asked as (insert into store_refresh_requests default values)
      update slots set is_active = false`);
  });

  const updatedAt = async () =>
    Date.parse((await tab.section('The storefront').locator('time').getAttribute('datetime')) ?? '');
  const isUpToDate = () => tab.page.getByRole('status').getByText('Up to date').waitFor();
  const openSlots = () => tab.section('Open slots');
  const slotLink = (id: number) => openSlots().locator(`a[href='/slots/${id}']`);

  async function newSlot(productIds: number[] = []): Promise<number> {
    const { slot } = await slots.createSlot(openSlot(productIds));
    return slot?.id ?? 0;
  }

  it('What a colleague changes shows by itself, in a new version, and on the board of slots', async () => {
    const id = await newSlot([1, 2, 3, 4, 5]);
    await tab.open('/live', { viewport: { width: 360, height: 640 } });
    await slotLink(id).waitFor();
    await openSlots().getByText('5 products: Product 1, Product 2, Product 3 and 2 more').waitFor();
    await tab.text(/^in (2 d|1 d 23 h)/).waitFor();
    expect(await tab.overflow()).toBe(0);
    const before = await updatedAt();
    const board = await stage.openTab({ path: '/slots' });
    await board.link(new RegExp(`Slot ${id}$`)).click();
    await board.button(`Mark full: slot ${id}`).waitFor();
    await slots.updateSlotCapacity({ slotId: id, isCapacityFull: true });
    await openSlots().getByText('No slots are open, so customers can’t order.').waitFor();
    await expect.poll(updatedAt).toBeGreaterThan(before);
    await tab.text(/^\d+ s ago/).waitFor();
    await tab.section('The storefront').getByText('None').waitFor();
    await board.button(`Reopen: slot ${id}`).waitFor();
  });

  it('A tab has one stream, whatever pages it goes through', async () => {
    await tab.open('/live');
    await isUpToDate();
    const streams: string[] = [];
    tab.page.on('request', (request) => {
      if (request.url().endsWith('/WatchStore')) streams.push(request.url());
    });
    await tab.follow('Slots', 'Slots');
    await tab.link('Storefront').click();
    await isUpToDate();
    expect(streams).toEqual([]);
    await tab.page.reload();
    await isUpToDate();
    expect(streams).toHaveLength(1);
  });

  it.each([
    ['A slot service that restarts is found again', (meanwhile: () => Promise<void>) => stage.slot.restart(meanwhile)],
    ['A network that was away is found again', (meanwhile: () => Promise<void>) => tab.offline(meanwhile)],
  ])('%s by the page, which goes on by itself, and shows what has come', async (_what, interrupt) => {
    await tab.open('/live');
    await isUpToDate();
    await interrupt(async () => {
      await tab.text('Reconnecting…').waitFor();
      await tab.text('What you see may be out of date.').waitFor();
    });
    await isUpToDate();
    const id = await newSlot();
    await slotLink(id).waitFor();
  });

  it('Staff look up when a product can be delivered, and the answer follows the storefront', async () => {
    const id = await newSlot([7]);
    await newSlot([8]);
    await tab.open('/live');
    await tab.pick('Product', 'Product 8', 'Product 7');
    await tab.page.waitForURL('**/live?product=7');
    const answer = tab.section('When can a product be delivered?');
    await answer.locator(`a[href='/slots/${id}']`).waitFor();
    await answer.getByText('1 slot open').waitFor();
    await slots.updateSlotProducts({ slotId: id, productIds: [8] });
    await answer.getByText('Customers can’t order Product 7: it isn’t in any open slot.').waitFor();
  });

  it('Of hundreds of open slots, a hundred are shown at a time', async () => {
    await stage.sql(
      `with added as (
         insert into slots (delivery_time, freeze_time)
         select now() + n * interval '1 hour', now() + n * interval '50 minutes' from generate_series(1, 250) n returning id
       )
       insert into store_refresh_requests (slot_id) select id from added`,
    );
    await newSlot();
    await tab.open('/live');
    await openSlots().getByText('251 slots open').waitFor();
    const links = openSlots().getByRole('link');
    expect(await links.count()).toBe(100);
    await tab.click('Show more');
    await expect.poll(() => links.count()).toBe(200);
  });
});
