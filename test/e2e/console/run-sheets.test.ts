import type { Client } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { colleague } from './clients.ts';
import { describeConsole } from './stage.ts';

describeConsole('Run sheets', (stage, tab) => {
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, delivery_sequence)
         values (7, '2090-05-01T04:30Z', '2090-05-01T00:30Z', true, false, '{"1": [41, 40]}'),
           (11, '2090-05-03T04:30Z', '2090-05-03T00:30Z', true, false, '{}'),
           (8, '2090-05-01T06:30Z', '2090-05-01T00:30Z', true, false, '{}'),
           (9, '2090-05-01T07:30Z', '2090-05-01T00:30Z', false, false, '{}'),
           (10, '2090-05-01T19:30Z', '2090-05-01T00:30Z', true, false, '{}');
       insert into product_slots values (7, 3), (7, 1);
       insert into vendor_snippets (slot_id, snippet_code, product_ids) values (7, 'morning', '{1, 3}');
       insert into orders (id, user_id, total_amount) values (40, 1, 250), (41, 1, 99.5)`,
  );

  let bookings: Client<typeof SlotBookingService>;

  beforeAll(async () => {
    bookings = await colleague(stage.slot, SlotBookingService, 2);
  });

  const sheet = (id: number) => tab.page.getByRole('article', { name: `Run sheet of slot ${id}` });

  const rows = (id: number) => sheet(id).locator('tbody tr').allInnerTexts();
  const book = (id: number, orderKey: string, rest: { userId?: number; units?: number; holdSeconds?: number } = {}) =>
    bookings.book({ slotId: id, orderKey, holdSeconds: 0, ...rest });
  /** How many pages the sheets take on a paper. */
  const pages = async (format: string) =>
    (await tab.page.pdf({ format })).toString('latin1').match(/\/Type \/Page\b/g)?.length;

  it('The run sheet of a slot has its times, products and snippets, and its stops in their order, then what is booked besides, each with a place to sign', async () => {
    await book(7, '40', { userId: 2, units: 3 });
    await book(7, 'paper/7', { userId: 3 });
    await book(7, 'not-paid', { userId: 3, holdSeconds: 900 });
    await stage.sql('update slots set is_capacity_full = true, window_minutes = 120 where id = 7');
    await tab.open('/slots/7');
    await tab.link('Run sheet').click();
    await tab.button('Print').waitFor();
    const text = await sheet(7).innerText();
    expect(text).toContain('Mon 1 May 2090, 10:00 – 12:00 · Slot 7');
    expect(text).toContain('Orders close Mon 1 May 2090, 06:00 · Full');
    expect(text).toMatch(/Products \(2\)\s+Product 1\s+Product 3/);
    expect(text).toContain('morning: Product 1, Product 3');
    const users = await stage.sql<{ name: string; mobile: string }>('select name, mobile from users order by id');
    const [first, second] = users.map(({ name, mobile }) => `${name} ${mobile}`);
    const fields = (await rows(7)).map((row) => row.split('\t'));
    expect(fields).toEqual([
      ['1', first, '41 99.50', 'No booking', ''],
      ['2', second, '40 250.00', '3', ''],
      ['', expect.any(String), 'paper/7', '1', ''],
    ]);
    expect(await sheet(7).getByRole('columnheader').last().innerText()).toBe('Signature');
  });

  it('What is booked under the key of the business stands at the stop of its order', async () => {
    await stage.sql(`update orders set external_id = 'A-40' where id = 40`);
    await stage.sql(`update slots set delivery_sequence = '{"1": [40]}' where id = 10`);
    await book(10, 'A-40', { userId: 2, units: 2 });
    await tab.open('/slots/10');
    await tab.link('Run sheet').click();
    await expect
      .poll(async () => (await rows(10)).map((row) => row.split('\t').slice(2, 4)))
      .toEqual([['A-40 250.00', '2']]);
  });

  it('The sheets of a day are those of its active slots, each on a page of its own, of either paper', async () => {
    await tab.open('/slots?day=2090-05-01');
    await tab.click('Mon 1 May 2090: actions');
    await tab.page.getByRole('menuitem', { name: 'Run sheets' }).click();
    await tab.button('Print').waitFor();
    await sheet(8).getByText('No bookings and no stops.').waitFor();
    expect(await tab.page.getByRole('article').count()).toBe(2);
    const { y = 0, height = 0 } = (await sheet(7).boundingBox()) ?? {};
    expect((await sheet(8).boundingBox())?.y).toBeGreaterThan(y + height);
    await tab.page.emulateMedia({ media: 'print' });
    expect(await tab.button('Print').isVisible()).toBe(false);
    expect(await tab.link('Coupons').isVisible()).toBe(false);
    expect(await pages('A4')).toBe(2);
    expect(await pages('Letter')).toBe(2);
  });

  it('More bookings than a page has go on on the next, where the headings are repeated, and none is cut in two', async () => {
    for (let order = 1; order <= 40; order += 1) await book(11, `many-${order}`);
    await tab.open('/slots/sheets?slot=11');
    await expect.poll(async () => (await rows(11)).length).toBe(40);
    await tab.page.emulateMedia({ media: 'print' });
    expect(await pages('A4')).toBeGreaterThan(1);
    const style = (of: string) =>
      tab.page.evaluate<object>(`({ ...getComputedStyle(document.querySelector('.visits ${of}')) })`);
    expect(await style('thead')).toMatchObject({ display: 'table-header-group' });
    expect(await style('tbody tr')).toMatchObject({ breakInside: 'avoid' });
  });

  it('Of today, slots whose window has passed are left out until staff ask for them', async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, window_minutes)
       select 20 + n, now() - interval '1 minute', now() - interval '1 hour', nullif(n, 0) from generate_series(0, 60, 60) n`,
    );
    await tab.open('/slots/sheets');
    await sheet(80).waitFor();
    expect(await sheet(20).count()).toBe(0);
    await tab.link('Show 1 past slot').click();
    await sheet(20).waitFor();
    await sheet(80).waitFor();
  });

  it('“Print” waits until all is read, and opens the print dialog; a day without slots says so', async () => {
    await tab.open('/slots/sheets?slot=7', {
      initScript: 'window.print = () => { window.printed = document.body.innerText; }',
    });
    await tab.click('Print');
    expect(await tab.page.evaluate('window.printed')).toMatch(/40 250.00/);
    await tab.page.goto(`${stage.origin}/slots/sheets?day=2090-06-01`);
    await tab.text('No slots on this day.').waitFor();
  });

  it('The run sheets of a day have the slots that go on from the day before, until their windows end', async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, is_active, is_capacity_full, window_minutes)
       values (21, '2090-06-01T17:30Z', '2090-06-01T00:30Z', true, false, 180),
         (22, '2090-06-01T16:30Z', '2090-06-01T00:30Z', true, false, 120)`,
    );
    await tab.open('/slots/sheets?day=2090-06-02');
    await sheet(21).getByText('Thu 1 Jun 2090, 23:00 – 02:00').waitFor();
    expect(await sheet(22).count()).toBe(0);
  });
});
