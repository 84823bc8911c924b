import { beforeEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';
import { StoredSlots } from './stored-slots.ts';

describeConsole('The calendar by hours', (stage, tab) => {
  // Bookings outlive their slots: tests that book have slots of their own.
  beforeEach(() => new StoredSlots(stage).clear());

  const add = async (id: number, delivery: string, { window = 0, capacity = 0 } = {}) => {
    await new StoredSlots(stage).add(id, delivery);
    await stage.sql('update slots set window_minutes = nullif($2, 0), capacity = nullif($3, 0) where id = $1', [
      ...[id, window, capacity],
    ]);
  };
  const book = (id: number, units: number, state = 'BOOKED') =>
    stage.sql(
      `insert into slot_bookings (slot_id, order_key, units, state, held_until, created_at, booked_at)
         values ($1, gen_random_uuid(), $2, $3, case $3 when 'HELD' then now() + interval '1 hour' end, now(), case $3 when 'BOOKED' then now() end)`,
      [id, units, state],
    );
  const open = (path = '/slots?day=2090-05-01', options: object = {}) => tab.open(path, options);
  const slot = (id: number) => tab.link(new RegExp(`Slot ${id}$`));
  const panel = (id: number) => tab.page.getByRole('complementary', { name: `Slot ${id}` });
  const card = (id: number) => tab.page.locator('.slot-card', { has: tab.page.locator(`[data-place="${id}"]`) });
  const boxOf = async (id: number) => {
    await slot(id).waitFor();
    const box = await card(id).boundingBox();
    if (box === null) throw new Error('it is not shown');
    return box;
  };
  const capacities = async () =>
    (await stage.sql<{ capacity: number | null }>('select capacity from slots order by id')).map((row) => row.capacity);

  it('A slot stands at its time and is as tall as its window, and slots that overlap stand side by side', async () => {
    await add(1, '2090-05-01 08:00', { window: 60 });
    await add(2, '2090-05-01 12:30', { window: 180 });
    await add(3, '2090-05-01 13:00', { window: 60 });
    await open();
    const [first, long, beside] = [await boxOf(1), await boxOf(2), await boxOf(3)];
    const hourPx = (long.y - first.y) / 4.5;
    expect(hourPx).toBeGreaterThan(36);
    expect(first.height).toBeGreaterThanOrEqual(36);
    expect(long.height / hourPx).toBeCloseTo(3, 0);
    expect(beside.x).toBeGreaterThanOrEqual(long.x + long.width);
    expect(first.width).toBeGreaterThan(1.9 * long.width);
  });

  it('All hours of a day are in sight at 1280 by 800, and those without slots at the ends come at a press', async () => {
    await add(1, '2090-05-01 08:00');
    await open('/slots?day=2090-05-01', { viewport: { width: 1280, height: 800 } });
    await slot(1).waitFor();
    const week = await tab.page.locator('.week').boundingBox();
    expect((week?.y ?? 0) + (week?.height ?? 0)).toBeLessThanOrEqual(800);
    expect(await tab.page.locator('[data-hour="2"]').count()).toBe(0);
    await tab.click('Show 00 – 06');
    await tab.link('Add a slot on Mon 1 May 2090 at 02:00').waitFor();
    await tab.link('Add a slot on Mon 1 May 2090 at 23:00').waitFor();
  });

  it('A line marks now, in the column of today', async () => {
    await open('/slots');
    await tab
      .button(/^Show \d\d – /)
      .first()
      .click();
    const minute = async () => {
      const [row] = await stage.sql<{ minute: string }>(
        `select extract(epoch from now() at time zone 'Asia/Kolkata' - date_trunc('day', now() at time zone 'Asia/Kolkata')) / 60 as minute`,
      );
      return Number(row?.minute);
    };
    const day = tab.page.locator('.day').first();
    const [line, hours] = [await day.locator('.now').boundingBox(), await day.locator('.hours').boundingBox()];
    const shown = (((line?.y ?? 0) - (hours?.y ?? 0)) / (hours?.height ?? 1)) * 1_440;
    expect(Math.abs(shown - (await minute()))).toBeLessThan(5);
    expect(await tab.page.locator('.now').count()).toBe(1);
  });

  it('A press opens a slot beside the calendar with its bookings, a second one its page, and Escape closes it where the keyboard was', async () => {
    await add(7, '2090-05-01 10:00', { window: 120, capacity: 40 });
    await book(7, 15);
    await book(7, 3, 'HELD');
    await open();
    await slot(7).click();
    await panel(7).getByText('18 of 40 booked', { exact: true }).waitFor();
    await panel(7).getByRole('img', { name: '18 of 40 booked, 3 of them held' }).waitFor();
    expect(await panel(7).getByRole('link', { name: '2', exact: true }).getAttribute('href')).toBe('/slots/7');
    await panel(7).getByRole('link', { name: 'Mon 1 May 2090, 10:00 – 12:00' }).focus();
    await tab.press('Escape');
    await panel(7).waitFor({ state: 'detached' });
    expect(await tab.page.evaluate('document.activeElement.dataset.place')).toBe('7');
    await tab.press('Enter', 'Tab', 'Enter');
    await tab.heading('Delivery sequence').waitFor();
    await tab.page.goBack();
    await slot(7).click();
    await panel(7).waitFor();
    await slot(7).click();
    await expect.poll(() => tab.page.url()).toMatch(/\/slots\/7$/);
  });

  it('The panel lies beside a slot at the end of the week, too', async () => {
    await add(7, '2090-05-07 10:00');
    await open();
    await slot(7).click();
    const [beside, box] = [await panel(7).boundingBox(), await boxOf(7)];
    expect((beside?.x ?? 0) + (beside?.width ?? 0)).toBeLessThanOrEqual(box.x);
  });

  it('Of dozens of slots at one time some stand side by side, and the day has them all', async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time) select n, '2090-05-01T10:00+05:30', '2090-05-01T06:00+05:30' from generate_series(1, 24) n`,
    );
    await open();
    await tab.link('22 more on Mon 1 May 2090 at 10:00').click();
    await tab.link('17 more on Mon 1 May 2090 at 10:00').click();
    await slot(24).waitFor();
    expect(await tab.page.locator('.slot-card').count()).toBe(24);
    expect(await tab.overflow()).toBe(0);
  });

  it('The head of a day tells how much of it is booked, and selects all of it', async () => {
    await add(1, '2090-05-01 10:00', { capacity: 20 });
    await add(2, '2090-05-01 12:00', { capacity: 20 });
    await add(3, '2090-05-02 12:00');
    await book(1, 12);
    await open();
    await tab.section(/1 May/).getByText('12 of 40 booked').waitFor();
    await tab.click('Mon 1 May 2090: actions');
    await tab.page.getByRole('menuitem', { name: 'Select all slots on this day' }).click();
    await tab.text('2 selected').waitFor();
  });

  it('Several slots get one capacity, and each gets back its own', async () => {
    await add(1, '2090-05-01 10:00', { capacity: 20 });
    await add(2, '2090-05-01 12:00', { capacity: 30 });
    await add(3, '2090-05-02 12:00');
    await open();
    for (const id of [1, 2, 3]) await tab.page.getByRole('checkbox', { name: `Select Slot ${id}` }).click();
    await tab.click('Capacity…');
    await tab.fill({ Capacity: 'many' });
    await tab.click('Save', tab.text('Enter a whole number from 1 to 1,000,000, or choose “No limit”.'));
    await tab.fill({ Capacity: '25' });
    await tab.click('Save', tab.notice('3 slots updated with the new capacity'));
    await expect.poll(capacities).toEqual([25, 25, 25]);
    await tab.notice('3 slots updated with the new capacity').getByRole('button', { name: 'Undo' }).click();
    await tab.notice('3 slots restored to the previous capacity').waitFor();
    expect(await capacities()).toEqual([20, 30, null]);
  });

  it('The capacities of several slots are shown, and change nothing unless they are touched', async () => {
    await add(1, '2090-05-01 10:00', { capacity: 36 });
    await add(2, '2090-05-01 12:00', { capacity: 30 });
    await open();
    for (const id of [1, 2]) await tab.page.getByRole('checkbox', { name: `Select Slot ${id}` }).click();
    await tab.click('Capacity…');
    expect(await tab.field('Capacity').getAttribute('placeholder')).toBe('36, 30');
    await tab.field('Capacity').press('Enter');
    await expect.poll(() => tab.page.getByRole('dialog').count()).toBe(0);
    expect(await capacities()).toEqual([36, 30]);
    await tab.click('Capacity…');
    await tab.fill({ Capacity: '0' });
    await tab.click('Save', tab.text('Enter a whole number from 1 to 1,000,000, or choose “No limit”.'));
    expect(await capacities()).toEqual([36, 30]);
  });

  it('A limit is taken away by its own choice, and of a slot with bookings only after a question', async () => {
    await add(22, '2090-05-01 10:00', { capacity: 20 });
    await book(22, 12);
    await open();
    await tab.page.getByRole('checkbox', { name: 'Select Slot 22' }).click();
    await tab.click('Capacity…');
    expect(await tab.field('Capacity').inputValue()).toBe('20');
    await tab.page.getByRole('dialog').getByText('No limit', { exact: true }).click();
    await tab.click('Save', tab.text('1 slot has bookings. Without a limit, customers can book any number there.'));
    expect(await capacities()).toEqual([20]);
    await tab.click('Save anyway', tab.notice('1 slot updated with the new capacity'));
    expect(await capacities()).toEqual([null]);
  });

  it('A slot past midnight is shown on the next day, too, until its window ends, and is counted and chosen once', async () => {
    await add(1, '2090-05-01 23:00', { window: 180, capacity: 20 });
    await add(2, '2090-05-01 22:00', { window: 120 });
    const goingOn = () => tab.link(/^from Mon 23:00 – 02:00/);
    await open();
    await tab.section(/1 May/).getByText('0 of 20 booked').waitFor();
    await tab
      .section(/2 May/)
      .getByRole('link', { name: /^from Mon 23:00 – 02:00/ })
      .waitFor();
    expect(await tab.section(/2 May/).getByText('of 20').count()).toBe(0);
    expect(await goingOn().count()).toBe(1);
    expect(await tab.page.getByRole('checkbox').count()).toBe(2);
    for (const path of ['/slots?day=2090-05-02', '/slots?day=2090-05-02&span=day']) {
      await open(path);
      await goingOn().waitFor();
      expect([await slot(1).count(), await slot(2).count()]).toEqual([1, 0]);
    }
    await open('/slots?day=2090-05-03&span=day');
    await tab.text('No slots').waitFor();
    expect(await goingOn().count()).toBe(0);
    await open('/slots/list?from=2090-05-02&until=2090-05-02');
    await tab.link('Mon 1 May 2090, 23:00 – 02:00').waitFor();
    expect(await tab.link('Mon 1 May 2090, 22:00 – 00:00').count()).toBe(0);
  });

  it('A capacity below what is booked is asked about once', async () => {
    await add(21, '2090-05-01 10:00', { capacity: 20 });
    await book(21, 12);
    await open();
    await tab.page.getByRole('checkbox', { name: 'Select Slot 21' }).click();
    await tab.click('Capacity…');
    await tab.fill({ Capacity: '11' });
    await tab.click('Save', tab.text('1 slot already has more booked.'));
    expect(await capacities()).toEqual([20]);
    await tab.click('Save anyway', tab.notice('1 slot updated with the new capacity'));
    expect(await capacities()).toEqual([11]);
  });

  it('A copy shows its capacity and window, and where orders close after the delivery, and single slots are left out', async () => {
    await add(1, '2090-05-01 10:00', { window: 120, capacity: 1_200 });
    await add(2, '2090-05-02 10:00');
    await stage.sql(`update slots set freeze_time = delivery_time + interval '1 hour' where id = 2`);
    await open();
    await tab.click('Copy this week to…');
    const row = (name: RegExp) => tab.page.getByRole('row', { name });
    await row(/Mon 8 May 2090, 10:00 – 12:00 .* 1,200 Will be created/).waitFor();
    await row(/Tue 9 May 2090, 10:00 .*Orders close after the delivery/).waitFor();
    await tab.page.getByRole('checkbox', { name: 'Select Tue 9 May 2090, 10:00' }).click();
    await row(/Tue 9 May 2090, 10:00 .*Skipped/).waitFor();
    await tab.click('Create 1 slot', tab.notice('1 slot created'));
    const made = await stage.sql('select capacity, window_minutes from slots where id > 1000');
    expect(made).toEqual([{ capacity: 1_200, window_minutes: 120 }]);
  });

  it('A tenth left makes a slot nearly full, and nothing left full, in the list with its bar', async () => {
    await add(31, '2090-05-01 10:00', { capacity: 40 });
    await add(32, '2090-05-01 12:00', { capacity: 40 });
    await add(33, '2090-05-01 14:00', { capacity: 40 });
    await book(31, 35);
    await book(32, 36);
    await book(33, 40);
    await tab.open('/slots/list?from=2090-05-01');
    const row = (name: RegExp) => tab.page.getByRole('row', { name });
    await row(/10:00 Slot 31\s.*Open\s+35 of 40/).waitFor();
    await row(/12:00 Slot 32\s.*Nearly full\s+36 of 40/).waitFor();
    await row(/14:00 Slot 33\s.*Full\s+40 of 40/).waitFor();
    await tab.page.getByRole('checkbox', { name: 'Select all' }).click();
    await tab.text('3 selected').waitFor();
    await tab.text('3 slots').first().waitFor();
    await tab.click('Mark full', tab.notice('3 slots marked full'));
  });
});
