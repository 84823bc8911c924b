import { beforeEach, expect, it } from 'vitest';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('What looks like a mistake in a slot', (stage) => {
  let tab: ConsoleTab;

  beforeEach(async () => {
    await stage.sql('truncate slots cascade; truncate product_slots');
  });

  const slots = () => stage.sql<Record<string, unknown>>('select * from slots order by id');
  const question = () => tab.page.getByRole('alertdialog', { name: 'Is this right?' });

  /** Enters a delivery in the past, and orders that close after it. */
  async function enterBothMistakes(): Promise<void> {
    await tab.field('Delivery time').fill('2020-04-25T11:30');
    await tab.field('Orders close').fill('2020-04-25T12:00');
  }

  /** Inserts slot 7, whose orders close four hours before its delivery. */
  async function insertSlot(delivery: string): Promise<void> {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values (7, $1, $1::timestamptz - interval '4 hours')`,
      [delivery],
    );
  }

  it('A delivery in the past is asked about once before it is saved', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await tab.field('Delivery time').fill('2020-04-25T11:30');
    await tab.button('Create slot').click();
    await question().getByText('The delivery is in the past: 25 Apr 2020, 11:30.').waitFor();
    await tab.button('Correct it').click();
    expect(await slots()).toEqual([]);
    expect(await tab.field('Delivery time').inputValue()).toBe('2020-04-25T11:30');
    await tab.button('Create slot').click();
    await tab.button('Create slot all the same').click();
    await tab.notice('Slot created successfully').waitFor();
    expect(await slots()).toHaveLength(1);
  });

  it('Orders that close after the delivery are asked about', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await tab.field('Orders close').fill('2090-04-25T11:30');
    await tab.button('Create slot').click();
    await question().getByText('Orders close after the delivery: 25 Apr 2090, 11:30.').waitFor();
    expect(await slots()).toEqual([]);
  });

  it('An end of orders after the delivery is told at its field at once', async () => {
    tab = await stage.openTab({ path: '/slots/new?day=2090-05-01' });
    await tab.text('Until then the slot takes orders.').waitFor();
    await tab.field('Orders close').fill('2090-05-01T11:00');
    await tab.text('This is after the delivery.').waitFor();
  });

  it('A date and time is typed in one go', async () => {
    tab = await stage.openTab({ path: '/slots/new?day=2090-05-01' });
    await tab.field('Delivery time').focus();
    await tab.page.keyboard.type('123120901115AM');
    expect(await tab.field('Delivery time').inputValue()).toBe('2090-12-31T11:15');
  });

  it('Of two changes of one slot, only the later can be undone', async () => {
    await insertSlot('2090-04-25T11:30+05:30');
    tab = await stage.openTab({ path: '/slots/7' });
    await tab.button(/^Mark full/).click();
    await tab.notice('Slot 7').getByRole('button', { name: 'Undo' }).waitFor();
    await tab.button(/^Open again/).click();
    await tab.button(/^Mark full/).waitFor();
    expect(await tab.page.getByRole('button', { name: 'Undo' }).count()).toBe(1);
    await tab.button('Undo').click();
    await tab.button(/^Open again/).waitFor();
  });

  it('Numbers that are typed in a row are chosen by Enter, and are not lost when the form is sent before', async () => {
    tab = await stage.openTab({ path: '/slots/new?day=2090-05-01' });
    const group = tab.page.getByRole('group', { name: 'Products', exact: true });
    const field = group.getByRole('searchbox');
    await field.fill('3 4 999');
    await tab.button('Create slot').click();
    await group.getByText('Press Enter to choose these.').waitFor();
    await field.press('Enter');
    await group.getByText('2 of 3 numbers chosen. Unknown: 999.').waitFor();
    await field.fill('5');
    expect(await group.getByText('numbers chosen').count()).toBe(0);
    await field.fill('');
    await tab.button('Create slot').click();
    await tab.section('Products (2)').waitFor();
  });

  it('A list of numbers says at once that Enter chooses them', async () => {
    tab = await stage.openTab({ path: '/slots/new?day=2090-05-01' });
    const group = tab.page.getByRole('group', { name: 'Products', exact: true });
    await group.getByRole('searchbox').pressSequentially('1, 4, 5');
    await group
      .getByRole('grid', { name: 'Products: found' })
      .getByText('Press Enter to choose these numbers.')
      .waitFor();
    expect(await group.getByText('Nothing found.').count()).toBe(0);
    await tab.press('Enter');
    await group.getByText('3 of 3 numbers chosen.').waitFor();
  });

  it('Keys choose what was searched for: Enter the one of this name, an arrow or Enter goes to the list of several', async () => {
    tab = await stage.openTab({ path: '/slots/new?day=2090-05-01' });
    const group = tab.page.getByRole('group', { name: 'Products', exact: true });
    const found = group.getByRole('grid', { name: 'Products: found' }).getByRole('row');
    const field = group.getByRole('searchbox');
    const chosen = () => group.getByRole('button', { name: /^Remove/ }).count();
    await field.pressSequentially('product 1');
    await tab.press('Enter');
    await tab.button('Remove Product 1').waitFor();
    expect(await chosen()).toBe(1);
    await field.fill('product 2');
    await expect.poll(() => found.count()).toBeGreaterThan(1);
    await tab.press('ArrowDown');
    await expect.poll(() => found.first().evaluate((row) => row === row.ownerDocument.activeElement)).toBe(true);
    await tab.press('ArrowDown');
    await tab.press('Enter');
    await expect.poll(chosen).toBe(2);
    await field.fill('duct 1');
    await expect.poll(() => found.count()).toBeGreaterThan(2);
    await tab.press('Enter');
    await expect.poll(() => found.first().evaluate((row) => row === row.ownerDocument.activeElement)).toBe(true);
    expect(await chosen()).toBe(2);
  });

  it('Two mistakes are asked about at once, and staff who correct them find all that they have entered', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await enterBothMistakes();
    await tab.pick('Groups', 'Group 2');
    await tab.pick('Products', 'Product 4');
    await tab.button('Create slot').click();
    await question().getByText('The delivery is in the past: 25 Apr 2020, 11:30.').waitFor();
    await question().getByText('Orders close after the delivery: 25 Apr 2020, 12:00.').waitFor();
    await tab.button('Correct it').click();
    await question().waitFor({ state: 'hidden' });
    expect(await slots()).toEqual([]);
    await tab.field('Orders close').fill('2090-04-25T07:30');
    await tab.field('Delivery time').fill('2090-04-25T11:30');
    await tab.field('Orders close').fill('2090-04-25T07:30');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
    const [slot] = await slots();
    expect(slot).toMatchObject({ delivery_time: new Date('2090-04-25T11:30+05:30'), group_ids: [2] });
    const products = await stage.sql('select product_id from product_slots');
    expect(products).toEqual([{ product_id: 4 }]);
  });

  it('What staff have confirmed is not asked about again when they correct something else', async () => {
    await insertSlot('2090-04-25T11:30+05:30');
    await stage.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('taken', 7, '{1}')`);
    tab = await stage.openTab({ path: '/slots/new' });
    await enterBothMistakes();
    await tab.button('Add a vendor snippet').click();
    await tab.field('Snippet name').fill('taken');
    await tab.pick('Products of the snippet', 'Product 4');
    await tab.button('Create slot').click();
    await tab.button('Create slot all the same').click();
    await tab.section('Vendor snippet 1').getByText('Snippet name "taken" already exists').waitFor();
    await tab.field('Snippet name').fill('free');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
  });

  it('A mistake that comes after another was confirmed is asked about', async () => {
    await insertSlot('2020-04-25T11:30+05:30');
    tab = await stage.openTab({ path: '/slots/7' });
    await tab.button('Edit times and groups').click();
    await tab.field('Orders close').fill('2020-04-25T12:00');
    await tab.button('Save').click();
    await question().getByText('Orders close after the delivery: 25 Apr 2020, 12:00.').waitFor();
    // The delivery is as old as it was.
    expect(await question().getByText('The delivery is in the past').count()).toBe(0);
    await tab.failAt(/UpdateSlot$/);
    await tab.button('Save all the same').click();
    await tab.section('Times and groups').getByText('The service can’t be reached').waitFor();
    await tab.page.unroute(/UpdateSlot$/);
    await tab.field('Orders close').fill('2020-04-25T13:00');
    await tab.button('Save').click();
    await question().getByText('Orders close after the delivery: 25 Apr 2020, 13:00.').waitFor();
    await tab.button('Save all the same').click();
    await tab.notice('Slot updated successfully').waitFor();
    const [slot] = await slots();
    expect(slot).toMatchObject({ freeze_time: new Date('2020-04-25T13:00+05:30') });
  });

  it('A slot with neither products nor groups is asked about, unless it is not active', async () => {
    tab = await stage.openTab({ path: '/slots/new?day=2090-05-01' });
    await tab.button('Create slot').click();
    await question().getByText('Nobody can order anything in this slot: it has neither products nor groups.').waitFor();
    await tab.button('Correct it').click();
    expect(await slots()).toEqual([]);
    await tab.text('Active: the storefront offers it').click();
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
    await tab.button('Activate again').click();
    await question()
      .getByText(/^Nobody can order anything/)
      .waitFor();
    await tab.button('Activate again all the same').click();
    await tab.notice(/is active again/).waitFor();
  });

  it('The last products of a slot without groups are removed after a question', async () => {
    await insertSlot('2090-04-25T11:30+05:30');
    await stage.sql('insert into product_slots values (7, 1)');
    tab = await stage.openTab({ path: '/slots/7' });
    await tab.button('Change products').click();
    await tab.button('Remove Product 1').click();
    await tab.button('Save').click();
    await question()
      .getByText(/^Nobody can order anything/)
      .waitFor();
    await tab.button('Save all the same').click();
    await tab.notice('0 added, 1 removed').waitFor();
  });

  it('A time that another slot takes is asked about, for a new slot, a moved one, and one that is activated again', async () => {
    await insertSlot('2090-04-25T11:30+05:30');
    await stage.sql('insert into product_slots values (7, 1)');
    tab = await stage.openTab({ path: '/slots/new?day=2090-04-25' });
    const isAsked = () => question().getByText('Slot 7 is at this time already: 25 Apr 2090, 11:30.').waitFor();
    await tab.pick('Products', 'Product 4');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
    await tab.button('Edit times and groups').click();
    await tab.field('Delivery time').fill('2090-04-25T11:30');
    await tab.button('Save').click();
    await isAsked();
    await tab.button('Save all the same').click();
    await tab.notice('Slot updated successfully').waitFor();
    await tab.button('Deactivate').click();
    await tab.button('Activate again').click();
    await isAsked();
    await tab.button('Correct it').click();
    await tab.link('Copy to the next day').click();
    await tab.field('Delivery time').fill('2090-04-25T11:30');
    await tab.button('Create slot').click();
    await isAsked();
    await tab.button('Correct it').click();
    // Slot 7 has no group.
    await tab.pick('Groups', 'Group 2');
    await tab.button('Create slot').click();
    await tab.heading(/^Slot \d+$/).waitFor();
  });

  it('A slot without a mistake is saved without a question', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await tab.pick('Products', 'Product 4');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
  });

  it('In an old slot only what is changed is asked about', async () => {
    await insertSlot('2020-04-25T11:30+05:30');
    tab = await stage.openTab({ path: '/slots/7' });
    await tab.button('Edit times and groups').click();
    await tab.text('This has passed: the slot takes no orders.').waitFor();
    await tab.pick('Groups', 'Group 3');
    await tab.button('Save').click();
    await tab.notice('Slot updated successfully').waitFor();
  });

  it('“Orders close” follows the delivery by the same distance, and not the other way round', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await tab.field('Delivery time').fill('2090-04-25T11:30');
    expect(await tab.field('Orders close').inputValue()).toBe('2090-04-25T07:30');
    await tab.field('Orders close').fill('2090-04-24T20:00');
    await tab.field('Delivery time').fill('2090-04-26T12:30');
    expect(await tab.field('Orders close').inputValue()).toBe('2090-04-25T21:00');
    await tab.field('Orders close').fill('2090-04-26T06:00');
    expect(await tab.field('Delivery time').inputValue()).toBe('2090-04-26T12:30');
  });

  it('A new vendor snippet has the focus in its name', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await tab.button('Add a vendor snippet').click();
    await tab.page.keyboard.type('typed at once');
    expect(await tab.field('Snippet name').inputValue()).toBe('typed at once');
  });

  it.each(['morning', 'evening-2090-04-25'])(
    'A copy of a slot takes its snippets along under new names, if staff say so: %s',
    async (name) => {
      await insertSlot('2090-04-25T11:30+05:30');
      await stage.sql(
        `insert into product_slots values (7, 1);
       update products set name = 'Mango' where id = 20;
       insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('${name}', 7, '{1, 20}')`,
      );
      tab = await stage.openTab({ path: '/slots/7' });
      await tab.link('Copy to the next week').click();
      await tab.text('can only be taken along under new names').waitFor();
      await tab.button('Take it along').click();
      await tab
        .section('Vendor snippet 1')
        .getByRole('grid', { name: /chosen/ })
        .getByText('Mango')
        .waitFor();
      expect(await tab.field('Snippet name').inputValue()).toBe(`${name.slice(0, 7)}-2090-05-02`);
      await tab.button('Create slot').click();
      await tab.section('Vendor snippets (1)').getByText('Product 1, Mango').waitFor();
    },
  );

  it('The way back after a slot was created does not open its form again', async () => {
    tab = await stage.openTab();
    await tab.link('New slot').click();
    await tab.button('Create slot').click();
    await tab.button('Create slot all the same').click();
    await tab.heading(/^Slot \d+$/).waitFor();
    await tab.page.goBack();
    await tab.heading('Slots').waitFor();
    expect(await tab.button('Create slot').count()).toBe(0);
  });

  it.each([false, true])('A past slot (full: %s) can be neither marked full nor opened again', async (isFull) => {
    await insertSlot('2020-04-25T11:30+05:30');
    await stage.sql('update slots set is_capacity_full = $1', [isFull]);
    for (const path of ['/slots?day=2020-04-25', '/slots/list?from=2020-04-25', '/slots/7']) {
      tab = await stage.openTab({ path });
      await tab.page.locator('.badge').getByText('Past', { exact: true }).first().waitFor();
      expect(await tab.button(/Mark full|Open again/).count()).toBe(0);
      if (path !== '/slots/7') await tab.close();
    }
  });

  it('A write that fails is told in a notice, and leaves the row of buttons as it was', async () => {
    await insertSlot('2090-04-25T11:30+05:30');
    tab = await stage.openTab({ path: '/slots/7' });
    const places = async () =>
      Promise.all(['Mark full: slot 7', 'Deactivate'].map((name) => tab.button(name).boundingBox()));
    await tab.button('Deactivate').waitFor();
    const before = await places();
    await tab.failAt(/UpdateSlotCapacity/);
    await tab.button('Mark full: slot 7').click();
    await tab.notice('Slot 7: The service can’t be reached').waitFor();
    await expect.poll(places).toEqual(before);
  });

  it.each([
    ['Mark full: slot 7', '/slots?day=2090-04-25', /UpdateSlotCapacity/],
    ['Deactivate', '/slots/7', /DeleteSlot/],
  ] as const)('“%s” that fails on %s is told in a notice, and stays in its place', async (name, path, procedure) => {
    await insertSlot('2090-04-25T11:30+05:30');
    tab = await stage.openTab({ path });
    await tab.button(name).waitFor();
    const places = () =>
      Promise.all([tab.button(name), tab.button('Mark full: slot 7')].map((button) => button.boundingBox()));
    const before = await places();
    await tab.page.route(procedure, (route) => route.abort('connectionrefused'));
    await tab.button(name).click();
    await tab.notice('Slot 7: The service can’t be reached').waitFor();
    await expect.poll(places).toEqual(before);
  });

  it('An unknown slot leads to all slots, and offers no second attempt', async () => {
    tab = await stage.openTab({ path: '/slots/999' });
    await tab.link('All slots').waitFor();
    expect(await tab.button('Try again').count()).toBe(0);
  });
});
