import { beforeEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';
import { StoredSlots } from './stored-slots.ts';

describeConsole('The board and the list of slots', (stage, tab) => {
  beforeEach(() => new StoredSlots(stage).clear());

  const add = (...slot: Parameters<StoredSlots['add']>) => new StoredSlots(stage).add(...slot);
  /** Inserts slots with ids from 1, an hour apart, from 1 May 2090 in the business's zone. Slot 3 is deactivated. */
  const insertSlots = (count: number) =>
    stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, is_active)
       select n, t, t - interval '1 hour', case when n % 2 = 0 then '{2}'::integer[] else '{3}' end, n <> 3
       from generate_series(1, ${count}) n, lateral (select '2090-05-01T00:00+05:30'::timestamptz + n * interval '1 hour' as t) at`,
    );
  const rows = async () =>
    (await tab.page.getByRole('rowheader').allInnerTexts()).map((text) => text.replace(/.*(?=Slot)/, ''));
  const slotLink = (id: number) => tab.link(new RegExp(`Slot ${id}$`));
  const isFull = async () => (await new StoredSlots(stage).list()).map((slot) => slot.is_capacity_full);

  it('The board shows the slots of a day with their products, groups and time left', async () => {
    await add(7, '2090-05-01 10:00');
    await stage.sql('insert into product_slots select 7, n from generate_series(1, 5) n');
    await add(8, '2090-05-02 09:00');
    await tab.open('/slots?day=2090-05-01');
    const day = tab.section(/1 May/);
    await day.getByText('Group 2').waitFor();
    await tab.link(/^10:00 Open Group 2 Slot 7$/).click();
    const panel = tab.page.getByRole('complementary', { name: 'Slot 7' });
    await panel.getByText('5 products: Product 1, Product 2, Product 3').waitFor();
    expect(await panel.innerText()).toMatch(/Mon 1 May 2090, 10:00\s+Open Orders close in \d+ d/);
    await tab
      .section(/2 May/)
      .getByRole('link', { name: /^09:00 .*Slot 8$/ })
      .waitFor();
  });

  it('The board tells what is past, where nothing can be marked full or opened, from what takes no orders and is still to be delivered', async () => {
    await add(6, '2020-05-01 09:30', { isFull: true });
    await add(7, '2020-05-01 10:30');
    await add(8, '2090-05-01 10:00');
    await add(9, '2090-05-01 11:00', { isFull: true });
    await stage.sql(`update slots set freeze_time = '2020-05-01Z' where id = 8`);
    await tab.open('/slots?day=2020-05-01');
    const day = tab.section(/1 May/);
    await slotLink(7).click();
    const panel = (id: number) => tab.page.getByRole('complementary', { name: `Slot ${id}` });
    await panel(7).getByText('Fri 1 May 2020, 06:30').waitFor();
    for (const path of [
      '/slots?day=2020-05-01',
      '/slots/list?from=2020-05-01&until=2020-05-01',
      '/slots/6',
      '/slots/7',
    ]) {
      await tab.page.goto(`${stage.origin}${path}`);
      await tab.page.locator('.badge, .slot-card').getByText('Past', { exact: true }).first().waitFor();
      expect(await tab.button(/Mark full|Reopen/).count()).toBe(0);
    }
    await stage.sql(
      `update slots set delivery_time = now() - interval '1 hour', freeze_time = now() - interval '2 hours', window_minutes = 90 where id = 7`,
    );
    await tab.page.goto(`${stage.origin}/slots/7`);
    await tab.text('Delivering now').waitFor();
    await tab.page.goto(`${stage.origin}/slots?day=2090-05-01`);
    for (const text of ['Closed', 'Full']) await day.getByText(text, { exact: true }).waitFor();
    await slotLink(9).click();
    await panel(9).getByText('Takes no orders').waitFor();
    expect(await day.getByText(/Orders close in/).count()).toBe(0);
  });

  it('The page of a slot whose freeze time is behind its delivery says that orders close at the delivery', async () => {
    await add(7, '2090-05-01 10:00');
    await stage.sql(`update slots set delivery_time = now() + interval '30 min', freeze_time = now() + interval '5 h'`);
    await tab.open('/slots/7');
    await tab.text(/^Orders close .+ · in \d+ min$/).waitFor();
  });

  it('Staff move the board by weeks, come back to today, and the board follows the day in the address when they go back', async () => {
    await add(7, '2090-05-08 10:00');
    await tab.open('/slots?day=2090-05-01');
    const empty = () => tab.exactly('No slots').count();
    await expect.poll(empty).toBe(7);
    await tab.click('Later');
    await slotLink(7).dblclick();
    await expect.poll(() => tab.page.url()).toMatch(/\/slots\/7$/);
    await tab.page.goBack();
    await tab.section(/8 May/).waitFor();
    await tab.click('Earlier');
    await expect.poll(empty).toBe(7);
    await tab.click('Today');
    await expect.poll(() => tab.page.url()).toMatch(/\/slots$/);
  });

  it('Staff mark a slot full at one tap, see when the storefront shows it, and undo it', async () => {
    await add(7, '2090-05-01 10:00');
    await tab.open('/slots?day=2090-05-01');
    await slotLink(7).click();
    await tab.click('Mark full: slot 7', tab.exactly('Full').first());
    expect(await isFull()).toEqual([true]);
    await tab.notice('Customers see it now.').waitFor();
    await tab.notice('Slot marked as full capacity').getByRole('button', { name: 'Undo' }).click();
    await tab.exactly('Open').first().waitFor();
    await expect.poll(isFull).toEqual([false]);
  });

  it('Of two changes of one slot, only the later can be undone, and an undo that fails on another page is told', async () => {
    await add(7, '2090-05-01 10:00');
    await tab.open('/slots/7');
    await tab.click(/^Mark full/, tab.notice('Slot 7').getByRole('button', { name: 'Undo' }));
    await tab.click(/^Reopen/, tab.button(/^Mark full/));
    expect(await tab.page.getByRole('button', { name: 'Undo' }).count()).toBe(1);
    await tab.click('Undo');
    await tab.click(/^Reopen/, tab.button(/^Mark full/));
    await tab.link('Coupons').click();
    await tab.failAt(/UpdateSlotCapacity/);
    await tab.click('Undo', tab.notice(/Not undone: Slot 7.* The service can’t be reached/));
  });

  it.each([
    ['Mark full: slot 7', '/slots?day=2090-05-01', /UpdateSlotCapacity/],
    ['Deactivate', '/slots/7', /DeleteSlot/],
  ] as const)('“%s” that fails on %s is told in a notice, and stays in its place', async (name, path, procedure) => {
    await add(7, '2090-05-01 10:00');
    await tab.open(path);
    if (path.startsWith('/slots?')) await slotLink(7).click();
    const place = () => tab.button('Mark full: slot 7').boundingBox();
    await tab.button('Mark full: slot 7').waitFor();
    const before = await place();
    await tab.failAt(procedure);
    await (name === 'Deactivate' ? tab.more(name) : tab.click(name));
    await tab.notice('Slot 7: The service can’t be reached').waitFor();
    await expect.poll(place).toEqual(before);
  });

  it('A deactivated slot is found on the board and in the list, also after a reload', async () => {
    await insertSlots(4);
    await tab.open('/slots?day=2090-05-01');
    await slotLink(2).waitFor();
    expect(await slotLink(3).count()).toBe(0);
    await tab.text('Show deactivated').click();
    await slotLink(3).waitFor();
    await tab.page.reload();
    await slotLink(3).waitFor();
    await tab.page.goto(`${stage.origin}/slots/list?from=2090-05-01`);
    await tab.select(/State$/, 'Deactivated');
    await expect.poll(rows).toEqual(['Slot 3']);
    expect(new URL(tab.page.url()).searchParams.get('state')).toBe('deactivated');
    await tab.page.reload();
    await expect.poll(rows).toEqual(['Slot 3']);
  });

  it('The list shows the slots from today on, soonest first, and those of other days, of one state and in the other order', async () => {
    await add(7, '2090-05-01 10:00');
    await add(8, '2020-05-01 10:00');
    await add(9, '2091-05-01 10:00');
    await tab.open('/slots');
    await tab.link('List').click();
    await expect.poll(rows).toEqual(['Slot 7', 'Slot 9']);
    await tab.click(/^Delivery/);
    await expect.poll(rows).toEqual(['Slot 9', 'Slot 7']);
    await tab.field('From').fill('');
    await expect.poll(rows).toEqual(['Slot 9', 'Slot 7', 'Slot 8']);
    await tab.select(/State$/, 'Past');
    await expect.poll(rows).toEqual(['Slot 8']);
    await tab.page.reload();
    await expect.poll(rows).toEqual(['Slot 8']);
  });

  it('Product, group and days filter the list, and stand in the address', async () => {
    await insertSlots(30);
    await stage.sql('insert into product_slots values (2, 4), (5, 4), (28, 4)');
    await tab.open('/slots/list?from=2090-05-01');
    await tab.click('Product: any');
    await tab.pick('Product', 'Product 4');
    await expect.poll(rows).toEqual(['Slot 2', 'Slot 5', 'Slot 28']);
    await tab.select(/Group$/, 'Group 2');
    await expect.poll(rows).toEqual(['Slot 2', 'Slot 28']);
    await tab.field('To').fill('2090-05-01');
    await expect.poll(rows).toEqual(['Slot 2']);
    expect(new URL(tab.page.url()).search).toBe('?from=2090-05-01&product=4&group=2&until=2090-05-01');
    await tab.page.reload();
    await expect.poll(rows).toEqual(['Slot 2']);
  });

  it('On a phone the first slot is in the upper half, and nothing is cut off', async () => {
    await insertSlots(4);
    await tab.open('/slots?day=2090-05-01', { viewport: { width: 360, height: 740 }, hasTouch: true });
    await slotLink(1).waitFor();
    const box = await tab.page.locator('.slot-card').first().boundingBox();
    expect(box?.y).toBeLessThan(370);
    expect(await tab.overflow()).toBe(0);
  });
});
