import type { Locator } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('The page of a slot', (stage, tab) => {
  let id = 100;

  // Each test has a slot of its own: slot-service keeps delivery sequences, and SQL does not tell it of a change.
  beforeEach(async () => {
    id += 1;
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, delivery_sequence)
       values ($1, '2090-05-01T10:00:42+05:30', '2090-05-01T06:30+05:30', '{2}', '{"1": [11, 12, 13]}')`,
      [id],
    );
    await stage.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    await tab.open(`/slots/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  });

  const stops = () => tab.page.getByRole('grid', { name: 'Orders of User 1' }).getByRole('row');
  /** The orders of rows, without the number of the stop before them. */
  const ordersOf = async (rows: Locator) => (await rows.allInnerTexts()).map((text) => /\n\D*(\d+)/.exec(text)?.[1]);
  const order = () => ordersOf(stops());
  const slot = async () => {
    const [row] = await stage.sql<Record<string, unknown>>('select * from slots where id = $1', [id]);
    return row;
  };
  const products = async () => {
    const rows = await stage.sql<{ product_id: number }>(
      'select product_id from product_slots where slot_id = $1 order by 1',
      [id],
    );
    return rows.map(({ product_id }) => product_id);
  };

  /** Begins the edit of another sequence, which is in the form before it is saved. */
  const enter = async (sequence: string) => {
    await tab.click('Edit delivery sequence');
    await tab.text('Advanced: the sequence as JSON').click();
    await tab.field('As JSON').fill(sequence);
  };

  it('Staff change the times and groups, and all else stays as it is', async () => {
    await tab.click('Edit times and groups');
    await tab.time('Orders close').fill('2090-05-01T07:15');
    await tab.pick('Groups', 'Group 3');
    await tab.click('Save', tab.notice('Slot updated successfully'));
    expect(await slot()).toMatchObject({
      // Its seconds too, which the field does not show.
      delivery_time: new Date('2090-05-01T10:00:42+05:30'),
      freeze_time: new Date('2090-05-01T07:15+05:30'),
      group_ids: [2, 3],
      is_active: true,
    });
    expect(await products()).toEqual([1, 2]);
    await tab.section('Times and groups').getByText('Group 2, Group 3').waitFor();
  });

  it('A slot that takes the place of another on the page has nothing of what was entered for that one', async () => {
    const other = id + 10_000;
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values ($1, '2091-01-01T10:00Z', '2091-01-01T06:00Z')`,
      [other],
    );
    await tab.button('Edit times and groups').waitFor();
    await tab.link('Slots').click();
    await tab.press('/');
    await tab.page.getByRole('searchbox', { name: 'Search everything' }).waitFor();
    await tab.page.keyboard.type(String(other));
    await tab.page.getByRole('menuitem', { name: `Slot ${other}` }).click();
    await tab.click('Edit times and groups', tab.field('Orders close'));
    await tab.page.evaluate('history.go(-2)');
    await tab.heading('Mon 1 May 2090, 10:00').waitFor();
    await tab.button('Edit times and groups').waitFor();
  });

  it('A number that is none of a slot is no page, and an unknown slot leads to all slots, without a second attempt', async () => {
    await tab.page.goto(`${stage.origin}/slots/99999999999`);
    await tab.heading('There is no such page').waitFor();
    await tab.page.goto(`${stage.origin}/slots/999999`);
    await tab.text('Slot not found').waitFor();
    await tab.link('All slots').waitFor();
    expect(await tab.button('Try again').count()).toBe(0);
  });

  it('Staff see which products they add and remove before they save, and choose by a list of numbers that is pasted', async () => {
    await tab.click('Edit products');
    await tab.page.evaluate(`navigator.clipboard.writeText('17, 18, 77777')`);
    await tab.page.getByRole('group', { name: 'Products', exact: true }).getByRole('searchbox').focus();
    await tab.press('Control+v');
    await tab.text('2 of 3 numbers added. Unknown: 77777.').waitFor();
    await tab.click('Remove Product 2');
    const section = tab.section(/^Products/);
    await section.getByText('2 added: Product 17, Product 18').waitFor();
    await section.getByText('1 removed: Product 2').waitFor();
    expect(await products()).toEqual([1, 2]);
    await tab.click('Save', tab.notice('2 added, 1 removed'));
    expect(await products()).toEqual([1, 17, 18]);
  });

  it('Staff add a vendor snippet, which needs products, and find its link', async () => {
    await tab.click('Add snippet');
    await tab.fill({ 'Snippet name': 'evening-run', 'Valid until': '2090-06-01T00:00' });
    await tab.click('Create snippet');
    await tab.text('Choose at least one product.').first().waitFor();
    await tab.pick('Products of the snippet', 'Product 2');
    await tab.click('Create snippet', tab.notice('Snippet evening-run created'));
    await tab.link('https://app.example/vendor-order-list?id=evening-run').waitFor();
    const rows = await stage.sql('select slot_id, product_ids, valid_till from vendor_snippets');
    expect(rows).toEqual([{ slot_id: id, product_ids: [2], valid_till: new Date('2090-06-01T00:00+05:30') }]);
  });

  it('A vendor snippet with products that the slot does not have is asked about', async () => {
    await stage.sql(`update slots set group_ids = '{}' where id = $1`, [id]);
    await tab.page.reload();
    await tab.click('Add snippet');
    await tab.field('Snippet name').fill('other-run');
    await tab.pick('Products of the snippet', 'Product 2', 'Product 17');
    const concern = tab.text('A snippet has 1 product that this slot does not.');
    await tab.click('Create snippet', concern.first());
    expect(await stage.sql('select from vendor_snippets where slot_id = $1', [id])).toEqual([]);
  });

  it('Staff reorder the delivery sequence with the keyboard', async () => {
    await tab.click('Edit delivery sequence');
    await expect.poll(order).toEqual(['11', '12', '13']);
    await stops().last().focus();
    // Takes the stop, goes up to the place before the first, and drops it there.
    await tab.press('ArrowRight', 'Enter');
    const focused = () => tab.page.locator(':focus').getAttribute('aria-label');
    for (const place of ['between Order 12 and Order 13', 'between Order 11 and Order 12', 'before Order 11']) {
      await tab.press('ArrowUp');
      await expect.poll(focused).toBe(`Insert ${place}`);
    }
    await tab.press('Enter');
    await expect.poll(order).toEqual(['13', '11', '12']);
    await stops().getByRole('button', { name: 'Move order 11 down' }).click();
    await expect.poll(order).toEqual(['13', '12', '11']);
    await tab.click('Save');
    // No order has these numbers, but they stood there before.
    await tab.notice('Delivery sequence updated successfully').waitFor();
    expect(await slot()).toMatchObject({ delivery_sequence: { 1: [13, 12, 11] } });
  });

  it('Staff reorder the delivery sequence by dragging', async () => {
    await tab.click('Edit delivery sequence');
    await stops().last().hover();
    const { x = 0, y = 0 } = (await stops().first().boundingBox()) ?? {};
    await tab.page.mouse.down();
    await tab.page.mouse.move(x + 20, y + 20, { steps: 5 });
    await tab.page.mouse.move(x + 20, y + 2, { steps: 5 });
    await tab.page.mouse.up();
    await expect.poll(order).toEqual(['13', '11', '12']);
  });

  it('Staff move an order to another customer by the keyboard, also into an empty list, and by the button at the end of a list', async () => {
    await enter('{"1": [11, 12], "4": [], "5": [14]}');
    const of = (user: number) => tab.page.getByRole('grid', { name: `Orders of User ${user}` }).getByRole('row');
    const focused = () => tab.page.locator(':focus').getAttribute('aria-label');
    await of(1).first().focus();
    await tab.press('ArrowRight', 'Enter');
    await expect.poll(focused).toMatch(/^Insert/);
    await tab.press('Tab');
    await expect.poll(focused).toMatch(/^Drop on/);
    await tab.press('Enter');
    await expect.poll(() => ordersOf(of(4))).toEqual(['11']);
    await tab.click('Move order 14 up');
    await tab.click('Move order 12 down');
    await expect.poll(() => ordersOf(of(4))).toEqual(['12', '11', '14']);
    await tab.click('Save');
    await tab.click('Save anyway', tab.notice('Delivery sequence updated successfully'));
    expect(await slot()).toMatchObject({ delivery_sequence: { 1: [], 4: [12, 11, 14], 5: [] } });
  });

  it('Staff drag an order to another customer', async () => {
    await enter('{"1": [11, 12], "4": [14]}');
    const of4 = tab.page.getByRole('grid', { name: 'Orders of User 4' }).getByRole('row');
    await stops().first().hover();
    const { x = 0, y = 0 } = (await of4.boundingBox()) ?? {};
    await tab.page.mouse.down();
    await tab.page.mouse.move(x + 20, y + 20, { steps: 5 });
    await tab.page.mouse.move(x + 20, y + 2, { steps: 5 });
    await tab.page.mouse.up();
    await expect.poll(() => ordersOf(of4)).toEqual(['11', '14']);
    await expect.poll(order).toEqual(['12']);
  });

  it('Staff change the delivery sequence as JSON, the only way for one with other names than the numbers of users, and add a user by name', async () => {
    await tab.click('Edit delivery sequence');
    await tab.text('Advanced: the sequence as JSON').click();
    await tab.field('As JSON').fill('{"1": [5');
    await tab.text('This isn’t valid JSON.').waitFor();
    await tab.field('As JSON').fill('{"van-7": [21]}');
    await tab.text('It can only be changed as JSON').waitFor();
    expect(await tab.text('Add or remove customers').count()).toBe(0);
    await tab.field('As JSON').fill('{"1": [5]}');
    await tab.text('Add or remove customers').click();
    await tab.pick('Customers', 'User 4');
    await tab.page.getByRole('grid', { name: 'Orders of User 4' }).getByText('No orders.').waitFor();
    await tab.click('Save', tab.text('Orders not found: 5.'));
    await tab.click('Save anyway', tab.notice('Delivery sequence updated successfully'));
    expect(await slot()).toMatchObject({ delivery_sequence: { 1: [5], 4: [] } });
  });

  it('Staff deactivate a slot, and undo it, which leaves all else as it was', async () => {
    const before = await slot();
    await tab.more('Deactivate');
    await tab.exactly('Deactivated').waitFor();
    expect(await slot()).toMatchObject({ is_active: false });
    await tab.notice(`Slot ${id} is deactivated`).getByRole('button', { name: 'Undo' }).click();
    await tab.notice(`Slot ${id} reactivated`).waitFor();
    expect(await slot()).toEqual({ ...before, etag: expect.anything() });
    expect(await products()).toEqual([1, 2]);
  });
});
