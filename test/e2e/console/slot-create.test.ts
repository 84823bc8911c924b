import { expect, it } from 'vitest';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('A new slot', (stage) => {
  let tab: ConsoleTab;

  const productsOf = async (slotId: number) => {
    const rows = await stage.sql<{ product_id: number }>(
      'select product_id from product_slots where slot_id = $1 order by 1',
      [slotId],
    );
    return rows.map(({ product_id }) => product_id);
  };

  /** The id in the heading of the slot that the page now shows. */
  async function shownSlot(): Promise<number> {
    await tab.heading(/^Slot \d+$/).waitFor();
    return Number((await tab.heading(/^Slot \d+$/).innerText()).slice('Slot '.length));
  }

  it.each([1280, 360])('Staff create a slot with products, a group and a snippet, %d px wide', async (width) => {
    await stage.sql('truncate slots cascade');
    tab = await stage.openTab({ viewport: { width, height: 800 } });
    await tab.link('New slot').click();
    await tab.field('Delivery time').fill('2090-05-01T10:00');
    await tab.field('Orders close').fill('2090-05-01T06:30');
    await tab.pick('Groups', 'Group 2');
    await tab.pick('Products', 'Product 4', 'Product 12');
    await tab.button('Add a vendor snippet').click();
    await tab.field('Snippet name').fill(`morning-${width}`);
    await tab.pick('Products of the snippet', 'Product 4');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
    const id = await shownSlot();
    expect(await productsOf(id)).toEqual([4, 12]);
    const [slot] = await stage.sql('select delivery_time, freeze_time, is_active, group_ids from slots where id = $1', [
      id,
    ]);
    expect(slot).toEqual({
      delivery_time: new Date('2090-05-01T10:00+05:30'),
      freeze_time: new Date('2090-05-01T06:30+05:30'),
      is_active: true,
      group_ids: [2],
    });
    const link = `https://app.example/vendor-order-list?id=morning-${width}`;
    const snippet = tab.section('Vendor snippets (1)');
    await snippet.getByRole('link', { name: link }).waitFor();
    await snippet.getByRole('img', { name: /QR code/ }).waitFor();
    // The audit trail of the record has it already.
    await tab
      .section('History')
      .getByText(/created slot/i)
      .first()
      .waitFor();
  });

  it('Staff make a slot as another one, a week later, with its products and groups', async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids)
       values (70, '2090-05-01T10:00+05:30', '2090-05-01T06:30+05:30', '{3}')`,
    );
    await stage.sql('insert into product_slots values (70, 1), (70, 999)');
    tab = await stage.openTab({ path: '/slots/70' });
    await tab.link('Copy to the next week').click();
    await tab.heading('New slot, as slot 70').waitFor();
    expect(await tab.field('Delivery time').inputValue()).toBe('2090-05-08T10:00');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
    const id = await shownSlot();
    expect(await productsOf(id)).toEqual([1, 999]);
    const [slot] = await stage.sql('select freeze_time, group_ids from slots where id = $1', [id]);
    expect(slot).toEqual({ freeze_time: new Date('2090-05-08T06:30+05:30'), group_ids: [3] });
  });

  it('The name of a snippet that exists is refused at its field, and nothing is lost', async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values (71, now(), now());
       insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('taken', 71, '{1}')`,
    );
    tab = await stage.openTab({ path: '/slots/new?day=2090-06-01' });
    await tab.pick('Products', 'Product 4');
    for (const [index, name] of ['free', 'taken'].entries()) {
      await tab.button('Add a vendor snippet').click();
      const snippet = tab.section(`Vendor snippet ${index + 1}`);
      await snippet.getByLabel('Snippet name').fill(name);
      await snippet.getByRole('searchbox').fill('Product 4');
      await snippet.getByRole('row', { name: 'Product 4', exact: true }).click();
    }
    await tab.button('Create slot').click();
    const problem = 'Snippet name "taken" already exists';
    await tab.section('Vendor snippet 2').getByText(problem).waitFor();
    expect(await tab.section('Vendor snippet 1').getByText(problem).count()).toBe(0);
    await tab.section('Vendor snippet 2').getByLabel('Snippet name').fill('other');
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
  });

  it('A double click creates one slot', async () => {
    const count = async () => (await stage.sql('select from slots')).length;
    const before = await count();
    tab = await stage.openTab({ path: '/slots/new?day=2090-06-02' });
    await tab.pick('Products', 'Product 4');
    await tab.button('Create slot').dblclick();
    await tab.notice('Slot created successfully').waitFor();
    await shownSlot();
    expect(await count()).toBe(before + 1);
  });

  it('A slot whose answer is lost is created once', async () => {
    const count = async () => (await stage.sql('select from slots')).length;
    const before = await count();
    tab = await stage.openTab({ path: '/slots/new?day=2090-06-03' });
    await tab.pick('Products', 'Product 4');
    let lost = 0;
    await tab.page.route(/CreateSlot/, async (route) => {
      if (lost > 0 || route.request().method() !== 'POST') return route.continue();
      lost += 1;
      // The service has done it; its answer does not arrive.
      await route.fetch();
      return route.abort('connectionreset');
    });
    await tab.button('Create slot').click();
    await tab.notice('Slot created successfully').waitFor();
    expect([lost, await count()]).toEqual([1, before + 1]);
  });

  it('Staff are asked before they leave what they have entered', async () => {
    tab = await stage.openTab({ path: '/slots/new' });
    await tab.field('Delivery time').fill('2090-05-01T10:00');
    await tab.link('Coupons').click();
    await tab.button('Stay here').click();
    expect(await tab.field('Delivery time').inputValue()).toBe('2090-05-01T10:00');
    await tab.link('Coupons').click();
    await tab.button('Leave').click();
    await expect.poll(() => tab.page.url()).toMatch(/\/coupons$/);
  });
});
