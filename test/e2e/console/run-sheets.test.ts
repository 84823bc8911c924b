import { expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('Run sheets', (stage, tab) => {
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, delivery_sequence)
         values (7, '2090-05-01T04:30Z', '2090-05-01T00:30Z', true, true, '{"1": [41, 40]}'),
           (8, '2090-05-01T06:30Z', '2090-05-01T00:30Z', true, false, '{}'),
           (9, '2090-05-01T07:30Z', '2090-05-01T00:30Z', false, false, '{}'),
           (10, '2090-05-01T19:30Z', '2090-05-01T00:30Z', true, false, '{}');
       insert into product_slots values (7, 3), (7, 1);
       insert into vendor_snippets (slot_id, snippet_code, product_ids) values (7, 'morning', '{1, 3}');
       insert into orders (id, user_id, total_amount) values (40, 1, 250), (41, 1, 99.5)`,
  );

  const sheet = (id: number) => tab.page.getByRole('article', { name: `Run sheet of slot ${id}` });

  it('The run sheet of a slot has its times, products, snippets, and its sequence with names', async () => {
    await tab.open('/slots/7');
    await tab.link('Run sheet').click();
    await tab.button('Print').waitFor();
    const text = await sheet(7).innerText();
    expect(text).toContain('1 May 2090, 10:00 · Slot 7');
    expect(text).toMatch(/Orders close\s+1 May 2090, 06:00/);
    expect(text).toContain('Full');
    expect(text).toMatch(/Products\s+Product 1\s+Product 3/);
    expect(text).toContain('morning: Product 1, Product 3');
    const [user] = await stage.sql<{ name: string }>('select name from users where id = 1');
    expect(text).toContain(`${user?.name}\nOrder 41: ${user?.name}, 99.50\nOrder 40: ${user?.name}, 250.00`);
  });

  it('The sheets of a day are those of its active slots, each on a page of its own', async () => {
    await tab.open('/slots?day=2090-05-01');
    await tab.click('Mon 1 May 2090: actions');
    await tab.page.getByRole('menuitem', { name: 'Run sheets' }).click();
    await tab.button('Print').waitFor();
    await sheet(8).waitFor();
    expect(await tab.page.getByRole('article').count()).toBe(2);
    await tab.page.emulateMedia({ media: 'print' });
    expect(await tab.button('Print').isVisible()).toBe(false);
    expect(await tab.link('Coupons').isVisible()).toBe(false);
    const pages = (await tab.page.pdf()).toString('latin1').match(/\/Type \/Page\b/g);
    expect(pages).toHaveLength(2);
  });

  it('“Print” waits until all is read, and opens the print dialog; a day without slots says so', async () => {
    await tab.open('/slots/sheets?slot=7', {
      initScript: 'window.print = () => { window.printed = document.body.innerText; }',
    });
    await tab.click('Print');
    expect(await tab.page.evaluate('window.printed')).toContain('Order 40');
    await tab.page.goto(`${stage.origin}/slots/sheets?day=2090-06-01`);
    await tab.text('No slots on this day.').waitFor();
  });
});
