import { beforeEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('A new slot', (stage, tab) => {
  beforeEach(async () => {
    await stage.sql('truncate slots cascade; truncate product_slots');
  });

  /** The slots in the order of their creation, each with its products. */
  const slots = () =>
    stage.sql<Record<string, unknown>>(
      `select *, array(select product_id from product_slots where slot_id = slots.id order by 1) as products
       from slots order by id`,
    );
  /** Inserts slot 7 with product 1, whose orders close four hours before its delivery. */
  const insertSlot = (delivery: string) =>
    stage.sql(
      `insert into slots (id, delivery_time, freeze_time)
         values (7, '${delivery}', '${delivery}'::timestamptz - interval '4 hours');
       insert into product_slots values (7, 1)`,
    );
  const create = () => tab.button('Create slot').click();
  const created = () => tab.notice('Slot created successfully').waitFor();
  const save = () => tab.button('Save').click();
  const saved = () => tab.notice('Slot updated successfully').waitFor();
  const question = () => tab.page.getByRole('alertdialog', { name: 'Is this right?' });
  const isAsked = (sentence: string | RegExp) => question().getByText(sentence).waitFor();
  const correct = async () => {
    await tab.click('Go back');
    await question().waitFor({ state: 'hidden' });
  };

  it.each([1280, 360])('Staff create a slot with products, a group and a snippet, %d px wide', async (width) => {
    await tab.open('/slots', { viewport: { width, height: 800 } });
    await tab.link('New slot').click();
    await tab.fill({ 'Delivery time': '2090-05-01T10:00', 'Orders close': '2090-05-01T06:30' });
    await tab.pick('Groups', 'Group 2');
    await tab.pick('Products', 'Product 4', 'Product 12');
    await tab.click('Add vendor snippet');
    // The name has the focus.
    await tab.page.keyboard.type(`morning-${width}`);
    await tab.pick('Products of the snippet', 'Product 4');
    await create();
    await created();
    await tab.heading('Mon 1 May 2090, 10:00').waitFor();
    const times = {
      delivery_time: new Date('2090-05-01T10:00+05:30'),
      freeze_time: new Date('2090-05-01T06:30+05:30'),
    };
    expect(await slots()).toMatchObject([{ ...times, is_active: true, group_ids: [2], products: [4, 12] }]);
    const link = `https://app.example/vendor-order-list?id=morning-${width}`;
    const snippet = tab.section('Vendor snippets (1)');
    await snippet.getByRole('link', { name: link }).waitFor();
    await snippet.getByRole('img', { name: /QR code/ }).waitFor();
    // The audit trail of the record has it already.
    await tab
      .section('History')
      .getByText(/ created \w+ \d+ \w+/)
      .first()
      .waitFor();
    // The way back does not open its form again.
    await tab.page.goBack();
    await tab.heading('Slots').waitFor();
    expect(await tab.button('Create slot').count()).toBe(0);
  });

  it('Staff make a slot as another one, a week later, with its products and groups, and its snippets under new names if they say so', async () => {
    await insertSlot('2090-05-01T10:00+05:30');
    await stage.sql(
      `update slots set group_ids = '{3}';
       insert into product_slots values (7, 999);
       update products set name = 'Mango' where id = 20;
       insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('evening-2090-05-01', 7, '{1, 20}')`,
    );
    await tab.open('/slots/7');
    await tab.heading('Mon 1 May 2090, 10:00').waitFor();
    await tab.more('Copy to the next week');
    await tab.heading('Copy of Mon 1 May 2090, 10:00').waitFor();
    expect(await tab.time('Delivery time').inputValue()).toBe('2090-05-08T10:00');
    await tab.text('can only be copied under new names').waitFor();
    await tab.click('Copy it');
    const chosen = tab.section('Vendor snippet 1').getByRole('grid', { name: /selected/ });
    await chosen.getByText('Mango').waitFor();
    expect(await tab.field('Snippet name').inputValue()).toBe('evening-2090-05-08');
    await create();
    await tab.section('Vendor snippets (1)').getByText('Product 1, Mango').waitFor();
    const freeze_time = new Date('2090-05-08T06:00+05:30');
    expect((await slots())[1]).toMatchObject({ freeze_time, group_ids: [3], products: [1, 999] });
  });

  it('The name of a snippet that exists is refused at its field, nothing is lost, and what staff have confirmed is not asked again', async () => {
    await insertSlot('2090-05-01T10:00+05:30');
    await stage.sql(`insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('taken', 7, '{1}')`);
    await tab.open('/slots/new');
    await tab.time('Delivery time').fill('2020-04-25T11:30');
    for (const [index, name] of ['free', 'taken'].entries()) {
      await tab.click('Add vendor snippet');
      const snippet = tab.section(`Vendor snippet ${index + 1}`);
      await snippet.getByLabel('Snippet name').fill(name);
      await snippet.getByRole('searchbox').fill('Product 4');
      await snippet.getByRole('row', { name: 'Product 4', exact: true }).click();
    }
    await create();
    await tab.click('Create slot anyway');
    const problem = 'Snippet name "taken" already exists';
    await tab.section('Vendor snippet 2').getByText(problem).waitFor();
    expect(await tab.section('Vendor snippet 1').getByText(problem).count()).toBe(0);
    await tab.section('Vendor snippet 2').getByLabel('Snippet name').fill('other');
    await create();
    await created();
  });

  it('A slot without a mistake is created once, without a question, at a double click whose answer is lost', async () => {
    await tab.open('/slots/new?day=2090-06-03');
    await tab.pick('Products', 'Product 4');
    let lost = 0;
    await tab.page.route(/CreateSlot/, async (route) => {
      if (lost > 0 || route.request().method() !== 'POST') return route.continue();
      lost += 1;
      // The service has done it; its answer does not arrive.
      await route.fetch();
      return route.abort('connectionreset');
    });
    await tab.button('Create slot').dblclick();
    await created();
    expect([lost, (await slots()).length]).toEqual([1, 1]);
  });

  it('Mistakes are asked about at once before the slot is saved, and staff who correct them find all that they have entered', async () => {
    await tab.open('/slots/new');
    await tab.fill({ 'Delivery time': '2020-04-25T11:30', 'Orders close': '2020-04-25T12:00' });
    await tab.pick('Groups', 'Group 2');
    await tab.pick('Products', 'Product 4');
    await create();
    await isAsked('The delivery is in the past: Sat 25 Apr 2020, 11:30.');
    await isAsked('Orders close after the delivery: Sat 25 Apr 2020, 12:00.');
    await correct();
    expect(await slots()).toEqual([]);
    await tab.fill({ 'Orders close': '2090-04-25T07:30', 'Delivery time': '2090-04-25T11:30' });
    await tab.time('Orders close').fill('2090-04-25T07:30');
    await create();
    await created();
    const delivery_time = new Date('2090-04-25T11:30+05:30');
    expect(await slots()).toMatchObject([{ delivery_time, group_ids: [2], products: [4] }]);
  });

  it('In an old slot only what is changed is asked about, also after another mistake was confirmed', async () => {
    await insertSlot('2020-04-25T11:30+05:30');
    await tab.open('/slots/7');
    await tab.click('Edit times and groups', tab.text('This has passed: nobody can order.'));
    await tab.time('Orders close').fill('2020-04-25T12:00');
    await save();
    await isAsked('Orders close after the delivery: Sat 25 Apr 2020, 12:00.');
    // The delivery is as old as it was.
    expect(await question().getByText('The delivery is in the past').count()).toBe(0);
    await tab.failAt(/UpdateSlot$/);
    await tab.click('Save anyway');
    await tab.section('Times and groups').getByText('The service can’t be reached').waitFor();
    await tab.page.unroute(/UpdateSlot$/);
    await tab.time('Orders close').fill('2020-04-25T13:00');
    await save();
    await isAsked('Orders close after the delivery: Sat 25 Apr 2020, 13:00.');
    await tab.click('Save anyway');
    await saved();
    expect(await slots()).toMatchObject([{ freeze_time: new Date('2020-04-25T13:00+05:30') }]);
    await tab.click('Edit times and groups');
    await tab.pick('Groups', 'Group 3');
    await save();
    await expect.poll(slots).toMatchObject([{ group_ids: [3] }]);
  });

  it('A slot with neither products nor groups is asked about, unless it is not active', async () => {
    const empty = /^Customers can’t order in this slot until it has products or groups/;
    await tab.open('/slots/new?day=2090-05-01');
    await create();
    await isAsked(empty);
    await correct();
    expect(await slots()).toEqual([]);
    await tab.text('Active: customers can order in it').click();
    await create();
    await created();
    await tab.more('Activate');
    await isAsked(empty);
    await tab.click('Activate anyway', tab.notice(/reactivated/));
  });

  it('A time that another slot takes is asked about, for a new slot, a moved one, and one that is activated again', async () => {
    await insertSlot('2090-04-25T11:30+05:30');
    const taken = 'Slot 7 is at this time already: Tue 25 Apr 2090, 11:30.';
    await tab.open('/slots/new?day=2090-04-25');
    await tab.pick('Products', 'Product 4');
    await create();
    await created();
    await tab.click('Edit times and groups');
    await tab.time('Delivery time').fill('2090-04-25T11:30');
    await save();
    await isAsked(taken);
    await tab.click('Save anyway');
    await saved();
    await tab.more('Deactivate');
    await tab.more('Activate');
    await isAsked(taken);
  });

  it('A date and its time are typed one after the other; “Orders close” follows the delivery by the same distance, not the other way round, and its field tells when it is after it', async () => {
    await tab.open('/slots/new?day=2090-05-01');
    const closes = () => tab.time('Orders close').inputValue();
    await tab.field('Delivery time').focus();
    await tab.page.keyboard.type('04252090');
    // The picker of dates stands between them.
    await tab.press('Tab', 'Tab');
    await tab.page.keyboard.type('1130AM');
    expect(await tab.time('Delivery time').inputValue()).toBe('2090-04-25T11:30');
    expect(await closes()).toBe('2090-04-25T07:30');
    await tab.text('Customers can order until then.').waitFor();
    await tab.fill({ 'Orders close': '2090-04-24T20:00', 'Delivery time': '2090-04-26T12:30' });
    expect(await closes()).toBe('2090-04-25T21:00');
    await tab.time('Orders close').fill('2090-04-26T13:00');
    expect(await tab.time('Delivery time').inputValue()).toBe('2090-04-26T12:30');
    await tab.text('This is after the delivery.').waitFor();
  });

  it('Numbers that are typed in a row are chosen by Enter, which the list says, and are not lost when the form is sent before', async () => {
    await tab.open('/slots/new?day=2090-05-01');
    const group = tab.page.getByRole('group', { name: 'Products', exact: true });
    const field = group.getByRole('searchbox');
    await field.pressSequentially('3, 4, 999');
    await group.getByRole('grid', { name: /found/ }).getByText('Press Enter to add these numbers.').waitFor();
    expect(await group.getByText('Nothing found.').count()).toBe(0);
    await create();
    await expect.poll(() => group.getByText('Press Enter to add these numbers.').count()).toBe(2);
    await field.press('Enter');
    await group.getByText('2 of 3 numbers added. Unknown: 999.').waitFor();
    await field.fill('5');
    expect(await group.getByText('numbers added').count()).toBe(0);
    await field.fill('');
    await create();
    await tab.section('Products (2)').waitFor();
  });

  it('Enter takes the one of this name, also before it is found, and not one of an earlier search; of several, it or an arrow goes to the list', async () => {
    await tab.open('/slots/new?day=2090-05-01');
    const group = tab.page.getByRole('group', { name: 'Products', exact: true });
    const found = group.getByRole('grid', { name: 'Products: found' }).getByRole('row');
    const field = group.getByRole('searchbox');
    const chosen = () => group.getByRole('button', { name: /^Remove/ }).count();
    const isFirstFocused = () => found.first().evaluate((row) => row === row.ownerDocument.activeElement);
    for (const [text, product] of [
      ['product 1', 'Product 1'],
      ['Product 14', 'Product 14'],
      ['Product 15', 'Product 15'],
    ] as const) {
      await field.fill(text);
      await tab.press('Enter');
      await tab.button(`Remove ${product}`).waitFor();
    }
    expect(await chosen()).toBe(3);
    await field.fill('product 1');
    await expect.poll(() => found.count()).toBeGreaterThan(1);
    await tab.press('ArrowDown');
    await expect.poll(isFirstFocused).toBe(true);
    await tab.press('ArrowDown', 'Enter');
    await expect.poll(chosen).toBe(4);
    await field.fill('duct 1');
    await expect.poll(() => found.count()).toBeGreaterThan(2);
    await tab.press('Enter');
    await expect.poll(isFirstFocused).toBe(true);
    expect(await chosen()).toBe(4);
    expect(await slots()).toEqual([]);
  });
});
