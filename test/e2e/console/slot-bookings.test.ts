import type { Client } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { colleague } from './clients.ts';
import { describeConsole } from './stage.ts';

describeConsole('The bookings of a slot', (stage, tab) => {
  let bookings: Client<typeof SlotBookingService>;
  let id = 100;
  /** Another slot of the same day, with room, and one that is full. */
  let [roomy, full] = [0, 0];

  beforeAll(async () => {
    bookings = await colleague(stage.slot, SlotBookingService, 2);
    await stage.sql(`update users set name = 'Aarti Rao', mobile = '9876543210' where id = 1;
      insert into orders (id, user_id, total_amount) values (41, 1, 250), (42, 2, 99.5), (43, 4, 10)`);
  });

  const book = (
    orderKey: string,
    rest: { slotId?: number; userId?: number; units?: number; holdSeconds?: number } = {},
  ) => bookings.book({ slotId: id, orderKey, holdSeconds: 0, ...rest });

  beforeEach(async () => {
    id += 10;
    [roomy, full] = [id + 1, id + 2];
    await stage.sql('update slots set is_active = false');
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, capacity, window_minutes, delivery_sequence)
       select $1::int + n, '2090-05-01T08:00+05:30'::timestamptz + n * interval '2 hours', '2090-05-01T06:30+05:30', '{2}',
         (array[10, 20, 1])[n + 1], 120, '{"1": [41]}'
       from generate_series(0, 2) n`,
      [id],
    );
    await Promise.all([
      book('41', { userId: 1, units: 3 }),
      book('paper/7', { userId: 2, holdSeconds: 900 }),
      book('elsewhere', { slotId: full }),
    ]);
    await tab.open(`/slots/${id}`);
    await row('41').waitFor();
  });

  const section = () => tab.section('Bookings');
  const row = (order: string) =>
    section()
      .getByRole('row')
      .filter({ has: tab.page.getByRole('link', { name: order, exact: true }) });
  const question = (sentence: string) =>
    tab.page.getByRole('alertdialog', { name: 'Is this right?' }).getByText(sentence).waitFor();
  const stored = async (order: string) => {
    const [booking] = await stage.sql(
      'select slot_id, state from slot_bookings where order_key = $1 and slot_id between $2 and $2 + 9',
      [order, id],
    );
    return booking;
  };
  const slot = async () => (await stage.sql<Record<string, unknown>>('select * from slots where id = $1', [id]))[0];
  const option = (time: string) => tab.page.getByRole('dialog').getByRole('radio', { name: new RegExp(time) });

  it('Each has its order, its customer with the mobile number, its units and its state; what was canceled is listed on demand', async () => {
    await row('41').getByText('9876543210').waitFor();
    const cells = await row('41').getByRole('cell').allInnerTexts();
    expect(cells.slice(0, 3)).toEqual(['Aarti Rao\n9876543210', '3', expect.stringMatching(/^Booked/)]);
    await row('paper/7')
      .getByText(/^until /)
      .waitFor();
    await tab.text('2 bookings · 4 units · newest first').waitFor();
    await tab.section('Capacity').getByText('4 of 10 booked, 1 of them held · 6 left').waitFor();
    const { booking } = await book('gone');
    await bookings.release({ bookingId: booking?.id });
    await tab.select(/^Booked and held/, 'Canceled');
    await row('gone').getByText('Canceled').waitFor();
    expect(await row('41').count()).toBe(0);
    expect(await row('gone').getByRole('button').count()).toBe(0);
    await tab.select(/^Canceled/, 'All');
    await tab.follow('paper/7', 'Order paper/7');
  });

  it('Staff move a booking to a slot of another time that has room, which tells when it has none, and undo it', async () => {
    await tab.click('Move… order 41');
    await tab.text('3 units, now Mon 1 May 2090, 08:00 – 10:00.').waitFor();
    expect(await option('12:00 – 14:00').isDisabled()).toBe(true);
    await tab.page.getByRole('dialog').getByText('Full', { exact: true }).waitFor();
    await tab.click('Move booking', tab.text('Choose a slot with room.'));
    await tab.page.getByText('10:00 – 12:00').click();
    await tab.click('Move booking', tab.notice('Order 41 moved'));
    expect(await stored('41')).toEqual({ slot_id: roomy, state: 'BOOKED' });
    await row('41').waitFor({ state: 'detached' });
    await tab.notice('Order 41 moved').getByRole('button', { name: 'Undo' }).click();
    await row('41').waitFor();
    expect(await stored('41')).toEqual({ slot_id: id, state: 'BOOKED' });
  });

  it('Who moves or cancels a booking after its time is told that the order may have been delivered', async () => {
    const warning = tab.text('The time of this slot has passed. The order may have been delivered.');
    await tab.click('Cancel… order 41', tab.text('Keep booking'));
    expect(await warning.count()).toBe(0);
    await tab.click('Keep booking');
    await stage.sql(`update slots set delivery_time = '2020-05-01T08:00+05:30' where id = $1`, [id]);
    await tab.page.reload();
    await tab.click('Cancel… order 41', warning);
    await tab.click('Keep booking');
    await tab.click('Move… order 41', warning);
  });

  it('A slot of another day is picked in the calendar, by the keyboard, too', async () => {
    const nextDay = id + 3;
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) values ($1, '2090-05-02T09:00+05:30', '2090-05-02T06:00+05:30')`,
      [nextDay],
    );
    await tab.click('Move… order 41', option('10:00 – 12:00'));
    await tab.button('Monday, 1 May 2090 selected').focus();
    await tab.press('ArrowRight', 'Enter');
    await tab.text('Slots on Tue 2 May 2090').waitFor();
    await option('09:00').focus();
    await tab.press('Space');
    await tab.click('Move booking', tab.notice('Order 41 moved'));
    expect(await stored('41')).toMatchObject({ slot_id: nextDay });
  });

  it('A slot that fills meanwhile is not moved to, which is told where it was chosen', async () => {
    await tab.click('Move… order 41', option('10:00 – 12:00'));
    await tab.page.getByText('10:00 – 12:00').click();
    await book('quick', { slotId: roomy, units: 19 });
    await tab.click('Move booking', tab.page.getByRole('dialog').getByText('Slot has no room for this order'));
    expect(await stored('41')).toEqual({ slot_id: id, state: 'BOOKED' });
    await expect.poll(() => option('10:00 – 12:00').isDisabled()).toBe(true);
  });

  it('Staff cancel a booking for a reason, which stands in its history, and the keyboard goes on at the section', async () => {
    await tab.click('Cancel… order 41', tab.text('3 units of the slot can be booked again. This can’t be undone.'));
    await tab.field('Reason').fill('called us');
    await tab.click('Cancel booking', tab.notice('The booking of order 41 is canceled'));
    await row('41').waitFor({ state: 'detached' });
    expect(await stored('41')).toMatchObject({ state: 'RELEASED' });
    expect(await tab.page.locator(':focus').innerText()).toBe('Bookings');
    await tab.select(/^Booked and held/, 'Canceled');
    // Since when it is what it is leads to its history.
    await row('41').getByRole('cell').nth(2).getByRole('link').click();
    await tab
      .text(/called us/)
      .first()
      .waitFor();
  });

  it('A slot that customers have booked is deactivated, and moved to another time, after a question only', async () => {
    await tab.more('Deactivate');
    await question('2 customers have booked this slot. Their bookings stay.');
    await tab.click('Go back');
    await tab.click('Edit times and groups');
    await tab.field('Delivery window (minutes)').fill('180');
    await tab.text('08:00 – 11:00').waitFor();
    await tab.click('Save');
    await question('2 customers have booked this slot. Tell them about the new time.');
    expect(await slot()).toMatchObject({ is_active: true, window_minutes: 120 });
    await tab.click('Save anyway', tab.heading('Mon 1 May 2090, 08:00 – 11:00'));
    await tab.more('Deactivate');
    await tab.click('Deactivate anyway', tab.exactly('Deactivated'));
    expect(await slot()).toMatchObject({ is_active: false, window_minutes: 180, capacity: 10 });
  });

  it('The capacity is changed in place, after a question below what is booked, and taken away', async () => {
    const edit = async (capacity: string) => {
      await tab.click('Edit capacity');
      await tab.page.getByRole('textbox', { name: 'Capacity' }).fill(capacity);
      await tab.click('Save');
    };
    await edit('1.5');
    await tab.text('Enter a whole number from 1 to 1,000,000.').waitFor();
    await tab.click('Cancel');
    await tab.click('Leave');
    await edit('2');
    await question('Already booked: 4 units. These bookings stay, but nobody can book more.');
    await tab.click('Save anyway', tab.text('4 of 2 booked, 1 of them held · 0 left'));
    await edit('12');
    await tab.text('4 of 12 booked, 1 of them held · 8 left').waitFor();
    expect(await slot()).toMatchObject({ capacity: 12, window_minutes: 120 });
    await edit('');
    await tab.text('No limit. 4 units booked.').waitFor();
    expect(await slot()).toMatchObject({ capacity: null, window_minutes: 120 });
  });

  it('What is booked becomes stops at one press, first booked first, except orders that are not known, and those that are stops', async () => {
    await book('43');
    await book('42', { userId: 2 });
    await stage.sql(`insert into orders (id, user_id, total_amount, external_id) values (44, 4, 10, 'W-44')`);
    await book('W-44');
    await tab.page.reload();
    await tab.click('Edit delivery sequence');
    await tab.click('Add 3 booked orders');
    await tab.page.getByRole('grid', { name: 'Orders of User 4' }).getByText('Order 43').waitFor();
    await tab.click('Save', tab.notice('Delivery sequence updated successfully'));
    expect(await slot()).toMatchObject({ delivery_sequence: { 1: [41], 2: [42], 4: [43, 44] } });
    await tab.click('Edit delivery sequence', tab.text('Add or remove customers'));
    expect(await tab.button(/^Add .* booked/).count()).toBe(0);
  });
});
