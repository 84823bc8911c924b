import { beforeEach, expect, it } from 'vitest';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('The board and the list of slots', (stage) => {
  let tab: ConsoleTab;

  beforeEach(async () => {
    await stage.sql('truncate slots cascade');
    await stage.sql('truncate product_slots');
  });

  /** Inserts a slot that is delivered at a time of the console's time zone. */
  async function insertSlot(id: number, delivery: string, freeze: string): Promise<void> {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids)
       values ($1, $2::timestamp at time zone 'Asia/Kolkata', $3::timestamp at time zone 'Asia/Kolkata', '{2}')`,
      [id, delivery, freeze],
    );
  }

  it('The board shows the slots of a day with their products, groups and time left', async () => {
    await insertSlot(7, '2090-05-01 10:00', '2090-05-01 06:30');
    await stage.sql('insert into product_slots select 7, n from generate_series(1, 5) n');
    await insertSlot(8, '2090-05-02 09:00', '2090-05-02 06:30');
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    const day = tab.section(/1 May/);
    await day.getByText('5 products: Product 1, Product 2, Product 3').waitFor();
    await day.getByText('Group 2').waitFor();
    expect(await day.innerText()).toMatch(/10:00 Slot 7\s+Open\s+Orders close in \d+ d/);
    expect(await tab.section(/2 May/).innerText()).toContain('09:00 Slot 8');
  });

  it('The board tells what is past from what takes no orders and is still to be delivered', async () => {
    await insertSlot(7, '2020-05-01 10:00', '2020-05-01 06:30');
    await insertSlot(8, '2090-05-01 10:00', '2020-05-01 06:30');
    await insertSlot(9, '2090-05-01 11:00', '2090-05-01 06:30');
    await stage.sql('update slots set is_capacity_full = true where id = 9');
    tab = await stage.openTab({ path: '/slots?day=2020-05-01' });
    const day = tab.section(/1 May/);
    await day.getByText('Past', { exact: true }).waitFor();
    await day.getByText('Orders closed 1 May 2020, 06:30').waitFor();
    await tab.page.goto(`${stage.origin}/slots?day=2090-05-01`);
    await day.getByText('Closed', { exact: true }).waitFor();
    await day.getByText('Full', { exact: true }).waitFor();
    await day.getByText('Takes no orders', { exact: true }).waitFor();
    expect(await day.getByText(/Orders close in/).count()).toBe(0);
  });

  it.each(['soon', '20266-01-01', '2026-13-01'])(
    'The board begins with today where %s stands for a day',
    async (day) => {
      tab = await stage.openTab({ path: `/slots?day=${day}` });
      expect(await tab.field('From').inputValue()).toMatch(/^20\d\d-\d\d-\d\d$/);
    },
  );

  it('Staff move the board by weeks, and come back to today', async () => {
    await insertSlot(7, '2090-05-08 10:00', '2090-05-08 06:30');
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    await expect.poll(() => tab.exactly('No slots').count()).toBe(7);
    await tab.button('Later').click();
    await tab.link(/Slot 7$/).waitFor();
    await tab.button('Earlier').click();
    await expect.poll(() => tab.exactly('No slots').count()).toBe(7);
    await tab.button('Today').click();
    await expect.poll(() => tab.page.url()).toMatch(/\/slots$/);
  });

  it('Staff mark a slot full at one tap, and undo it', async () => {
    await insertSlot(7, '2090-05-01 10:00', '2090-05-01 06:30');
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    const isFull = async () => {
      const [row] = await stage.sql<{ is_capacity_full: boolean }>('select is_capacity_full from slots');
      return row?.is_capacity_full;
    };
    await tab.button('Mark full: slot 7').click();
    await tab.exactly('Full').waitFor();
    expect(await isFull()).toBe(true);
    await tab.notice('Slot marked as full capacity').getByRole('button', { name: 'Undo' }).click();
    await tab.exactly('Open').first().waitFor();
    await expect.poll(isFull).toBe(false);
  });

  it('An undo that fails after its button has left the page is told', async () => {
    await insertSlot(7, '2090-05-01 10:00', '2090-05-01 06:30');
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    await tab.button('Mark full: slot 7').click();
    const notice = tab.notice('Slot marked as full capacity');
    await notice.waitFor();
    await tab.link('Coupons').click();
    await tab.failAt(/UpdateSlotCapacity/);
    await notice.getByRole('button', { name: 'Undo' }).click();
    await tab.notice(/Not undone: Slot 7.* The service can’t be reached/).waitFor();
  });

  it('After a slot write the notice tells when the storefront shows it', async () => {
    await insertSlot(7, '2090-05-01 10:00', '2090-05-01 06:30');
    tab = await stage.openTab({ path: '/slots?day=2090-05-01' });
    await tab.button('Mark full: slot 7').click();
    await tab.notice(/The storefront shows it now \(version \d+\)/).waitFor();
  });

  it('Staff open a slot by its number, also one that is not active', async () => {
    await insertSlot(7, '2090-05-01 10:00', '2090-05-01 06:30');
    await stage.sql('update slots set is_active = false');
    tab = await stage.openTab();
    await tab.link('New slot').waitFor();
    await tab.press('Control+k');
    await tab.page.getByRole('searchbox', { name: 'Search everything' }).waitFor();
    await tab.page.keyboard.type('7');
    await tab.page.getByRole('menuitem', { name: 'Slot 7' }).waitFor();
    await tab.press('Enter');
    await tab.heading('Slot 7').waitFor();
    await tab.text('Deactivated').waitFor();
  });

  it('The list shows the slots from today on, soonest first, and those of other days, of one state and in the other order', async () => {
    await insertSlot(7, '2090-05-01 10:00', '2090-05-01 06:30');
    await insertSlot(8, '2020-05-01 10:00', '2020-05-01 06:30');
    await insertSlot(9, '2091-05-01 10:00', '2091-05-01 06:30');
    tab = await stage.openTab();
    await tab.link('List').click();
    const rows = () => tab.page.getByRole('rowheader').allInnerTexts();
    await expect.poll(rows).toEqual(['Slot 7', 'Slot 9']);
    await tab.button(/^Delivery/).click();
    await expect.poll(rows).toEqual(['Slot 9', 'Slot 7']);
    await tab.field('From').fill('');
    await expect.poll(rows).toEqual(['Slot 9', 'Slot 7', 'Slot 8']);
    await tab.button(/State$/).click();
    await tab.page.getByRole('option', { name: 'Past' }).click();
    await expect.poll(rows).toEqual(['Slot 8']);
    await tab.page.reload();
    await expect.poll(rows).toEqual(['Slot 8']);
  });

  it('The board follows the day in the address, also when staff go back', async () => {
    await insertSlot(7, '2090-05-08 10:00', '2090-05-08 06:30');
    tab = await stage.openTab({ path: '/slots?day=2090-05-08' });
    await tab.link(/Slot 7$/).click();
    await tab.heading('Slot 7').waitFor();
    await tab.page.goBack();
    await tab.section(/8 May/).waitFor();
  });
});
