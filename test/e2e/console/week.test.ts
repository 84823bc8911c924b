import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';
import { StoredSlots } from './stored-slots.ts';

describeConsole('The week', (stage, tab) => {
  let slots: StoredSlots;

  beforeAll(async () => {
    slots = new StoredSlots(stage);
  });

  beforeEach(async () => {
    await slots.clear();
  });

  const add = (...slot: Parameters<StoredSlots['add']>) => slots.add(...slot);
  const addSnippet = (id: number, code: string) =>
    stage.sql(`insert into vendor_snippets (slot_id, snippet_code, product_ids) values ($1, $2, '{1}')`, [id, code]);
  const stored = () => slots.list();
  const deliveries = async () => (await stored()).map(({ id, delivery }) => `${id}: ${delivery}`);
  const full = async () => (await stored()).filter((slot) => slot.is_capacity_full).map(({ id }) => id);
  const active = async () => (await stored()).filter((slot) => slot.is_active).map(({ id }) => id);
  const open = async (path = '/slots?day=2090-05-01', options: object = {}) => {
    await tab.open(path, options);
    await tab.button('Earlier').waitFor();
  };
  const slotLink = (id: number) => tab.link(new RegExp(`Slot ${id}$`));
  const checkbox = (id: number) => tab.page.getByRole('checkbox', { name: `Select Slot ${id}`, exact: true });
  const cell = (day: RegExp, hour: number) => tab.section(day).locator(`[data-hour="${hour}"]`);
  const undo = (text: string | RegExp) => tab.notice(text).getByRole('button', { name: 'Undo' }).click();
  const focusedSlot = () => tab.page.evaluate('document.activeElement.dataset.place');
  const press = (...keys: string[]) => tab.press(...keys);
  const choose = async (...ids: number[]) => {
    for (const id of ids) await checkbox(id).click();
  };
  /** Presses keys on a slot. */
  const pressOn = async (id: number, ...keys: string[]) => {
    await slotLink(id).focus();
    await press(...keys);
  };
  /** Presses a key on a slot, and waits for what is said about it. */
  const moveBy = async (id: number, key: string, notice: string | RegExp) => {
    await pressOn(id, key);
    await tab.notice(notice).waitFor();
  };

  it('A free place makes a slot at its hour', async () => {
    await open();
    await tab.link('Add a slot on Wed 3 May 2090 at 15:00').click();
    expect(await tab.time('Delivery time').inputValue()).toBe('2090-05-03T15:00');
    expect(await tab.time('Orders close').inputValue()).toBe('2090-05-03T11:00');
    await tab.click('Create slot');
    await tab.click('Create slot anyway', tab.heading('Wed 3 May 2090, 15:00'));
    expect(await stored()).toMatchObject([{ delivery: '05-03 15:00', freeze: '05-03 11:00' }]);
  });

  it('One day is shown by itself, with its free places, also on a phone', async () => {
    await add(7, '2090-05-02 10:00');
    await open('/slots?day=2090-05-02&span=day', { viewport: { width: 360, height: 640 } });
    await slotLink(7).waitFor();
    expect(await tab.page.locator('.day').count()).toBe(1);
    expect(await tab.link('Add a slot on Tue 2 May 2090 at 07:00').isVisible()).toBe(true);
    await tab.click('Later', tab.section(/3 May/));
    await tab.link('Week').click();
    await expect.poll(() => tab.page.locator('.day').count()).toBe(7);
  });

  describe('Choosing', () => {
    beforeEach(async () => {
      await add(1, '2090-05-01 10:00');
      await add(2, '2090-05-01 12:00');
      await add(3, '2090-05-02 10:00', { isFull: true });
      await add(4, '2090-05-02 12:00');
    });

    it('Several slots are marked full at once, which is undone for those that were open', async () => {
      await open();
      await choose(2, 3);
      await tab.text('2 selected').waitFor();
      await tab.click('Mark full', tab.notice('1 slot marked full'));
      await expect.poll(full).toEqual([2, 3]);
      await undo('1 slot marked full');
      await tab.notice('1 slot reopened').waitFor();
      await expect.poll(full).toEqual([3]);
    });

    it('Slots that somebody else changed meanwhile are not marked, which is told', async () => {
      await open();
      await choose(1, 2);
      await stage.sql('update slots set etag = default where id = 2');
      await tab.click('Mark full', tab.notice(/Selected slots: .*changed/));
      expect(await full()).toEqual([3]);
    });

    it('A click with Shift chooses all slots in between, Escape none, and in another week nothing is chosen, where Shift begins anew', async () => {
      await add(5, '2090-05-10 10:00');
      await add(6, '2090-05-11 10:00');
      await open();
      await checkbox(1).click();
      await checkbox(4).click({ modifiers: ['Shift'] });
      await tab.text('4 selected').waitFor();
      await checkbox(2).click();
      await tab.text('3 selected').waitFor();
      await press('Escape');
      await expect.poll(() => tab.text(/\d selected/).count()).toBe(0);
      await checkbox(1).click();
      await tab.click('Later');
      await slotLink(5).waitFor();
      expect(await tab.text(/\d selected/).count()).toBe(0);
      await checkbox(6).click({ modifiers: ['Shift'] });
      await tab.text('1 selected').waitFor();
      expect(await checkbox(6).isChecked()).toBe(true);
    });

    it('Keys go from place to place, and choose with Space and Shift', async () => {
      await open();
      await slotLink(1).focus();
      const focused = () => tab.page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.innerText');
      await press('ArrowDown');
      expect(await focused()).toBe('Add a slot on Mon 1 May 2090 at 10:00');
      await press('ArrowUp', 'ArrowRight');
      expect(await focused()).toContain('Slot 3');
      await press('Space', 'Shift+ArrowLeft');
      await tab.text('2 selected').waitFor();
      expect([await checkbox(1).isChecked(), await checkbox(3).isChecked()]).toEqual([true, true]);
      await press('Space');
      await tab.text('1 selected').waitFor();
      await press('Enter');
      await tab.page.getByRole('complementary', { name: 'Slot 1' }).waitFor();
      // The panel goes on with the focus, which it would hide otherwise.
      await press('ArrowRight');
      await tab.page.getByRole('complementary', { name: 'Slot 3' }).waitFor();
      await press('ArrowLeft');
      await tab.page.getByRole('complementary', { name: 'Slot 1' }).waitFor();
      await press('Enter');
      await expect.poll(() => tab.page.url()).toMatch(/\/slots\/1$/);
    });

    it('Slots are deactivated and activated at once, and shown when asked for', async () => {
      await open();
      await choose(1, 4);
      await tab.click('Deactivate');
      await expect.poll(active).toEqual([2, 3]);
      await expect.poll(() => slotLink(4).count()).toBe(0);
      await undo('2 slots deactivated');
      await expect.poll(active).toEqual([1, 2, 3, 4]);
      await slotLink(4).waitFor();
      await stage.sql('update slots set is_active = false, etag = default where id = 2');
      await tab.text('Show deactivated').click();
      await checkbox(2).click();
      await tab.click('Activate');
      await expect.poll(active).toEqual([1, 2, 3, 4]);
    });
  });

  describe('Moving', () => {
    beforeEach(async () => {
      await add(1, '2090-05-01 10:15');
      await add(2, '2090-05-01 12:00');
    });

    it('Alt with an arrow moves a slot by a day or an hour, “orders close” with it, which is undone', async () => {
      await open();
      await moveBy(1, 'Alt+ArrowDown', '1 slot moved by 1 h');
      expect((await stored())[0]).toMatchObject({ delivery: '05-01 11:15', freeze: '05-01 07:15' });
      await undo('1 slot moved by 1 h');
      await expect.poll(deliveries).toEqual(['1: 05-01 10:15', '2: 05-01 12:00']);
      await cell(/1 May/, 10).getByText('Slot 1').waitFor();
    });

    it('After a key has moved a slot, it still has the focus, and quick keys move it by all of them', async () => {
      await open();
      await moveBy(1, 'Alt+ArrowRight', '1 slot moved by 1 day');
      expect((await stored())[0]).toMatchObject({ delivery: '05-02 10:15', freeze: '05-02 06:15' });
      expect(tab.page.url()).toContain('/slots?day=2090-05-01');
      await expect.poll(focusedSlot).toBe('1');
      await press('Alt+ArrowRight', 'Alt+ArrowDown', 'Alt+ArrowDown', 'Alt+ArrowUp');
      await expect.poll(deliveries).toEqual(['1: 05-03 11:15', '2: 05-01 12:00']);
      await expect.poll(focusedSlot).toBe('1');
    });

    it('Moves of a slot that follow one another are undone together', async () => {
      await open();
      await moveBy(1, 'Alt+ArrowDown', '1 slot moved by 1 h');
      await press('Alt+ArrowDown', 'Alt+ArrowRight');
      await undo('1 slot moved by 1 day and 2 h');
      await expect.poll(deliveries).toEqual(['1: 05-01 10:15', '2: 05-01 12:00']);
    });

    it('A key that leads to a taken time of the same group is asked about once, after the moves before it', async () => {
      await add(3, '2090-05-01 08:15');
      await open();
      await pressOn(1, 'Alt+ArrowUp', 'Alt+ArrowUp');
      await tab.notice('1 slot moved by −1 h').waitFor();
      await tab.click('Move', tab.text('Slot 3 is at this time already: Mon 1 May 2090, 08:15.'));
      expect(await deliveries()).toContain('1: 05-01 09:15');
      await tab.click('Move anyway');
      await expect.poll(deliveries).toContain('1: 05-01 08:15');
    });

    it('A time is free that a slot of another group has, a deactivated one, or one that moves along', async () => {
      await add(3, '2090-05-01 09:15');
      await stage.sql(`update slots set group_ids = '{3}' where id = 3`);
      await add(4, '2090-05-01 09:15', { isActive: false });
      await add(5, '2090-05-01 11:15');
      await open();
      await choose(1, 5);
      await moveBy(1, 'Alt+ArrowUp', '2 slots moved by −1 h');
      expect(await deliveries()).toEqual(expect.arrayContaining(['1: 05-01 09:15', '5: 05-01 10:15']));
    });

    it('Deactivated slots are activated beside slots at their time only after a question', async () => {
      await add(3, '2090-05-01 10:15', { isActive: false });
      await open('/slots?day=2090-05-01&deactivated=shown');
      await checkbox(3).click();
      await tab.click('Activate', tab.text('Slot 1 is at this time already: Mon 1 May 2090, 10:15.'));
      expect(await active()).not.toContain(3);
      await tab.click('Activate anyway');
      await expect.poll(active).toContain(3);
    });

    it('A key that comes before the page shows the last move moves the slot further', async () => {
      await open();
      await slotLink(1).focus();
      // The page reads the slots again only after its patience has ended.
      await tab.page.route(/ListSlots$/, () => {});
      await press('Alt+ArrowRight');
      await tab.notice('1 slot moved by 1 day').waitFor();
      await press('Alt+ArrowRight');
      await expect.poll(deliveries).toEqual(['1: 05-03 10:15', '2: 05-01 12:00']);
    });

    it('A drag that was given up moves nothing later', async () => {
      await open();
      const card = slotLink(1).locator('xpath=ancestor::li');
      await card.dragTo(tab.heading('Slots'));
      await tab.link('Add a slot on Tue 2 May 2090 at 07:00').dragTo(cell(/3 May/, 8));
      await moveBy(1, 'Alt+ArrowDown', '1 slot moved by 1 h');
      expect(await deliveries()).toEqual(['1: 05-01 11:15', '2: 05-01 12:00']);
    });

    it('A move whose answer is lost is done once, however often staff try again', async () => {
      await open();
      await slotLink(1).focus();
      await tab.page.route(/UpdateSlot$/, async (route) => {
        await route.fetch();
        await route.abort('connectionreset');
      });
      await press('Alt+ArrowDown');
      const notice = tab.notice(/1 slot not moved/);
      await notice.waitFor();
      await tab.page.unrouteAll({ behavior: 'wait' });
      await notice.getByRole('button', { name: 'Try again' }).click();
      await tab.notice('1 slot moved by 1 h').waitFor();
      expect((await stored())[0]).toMatchObject({ delivery: '05-01 11:15', freeze: '05-01 07:15' });
    });

    it('Of a move that fails half way, the slots that were not moved stay chosen', async () => {
      await open();
      await choose(1, 2);
      await stage.sql('update slots set etag = default where id = 2');
      await tab.click('Move to…');
      await tab.time('New start of the first slot').fill('2090-05-02T10:15');
      await tab.click('Move', tab.notice(/1 slot not moved: /));
      await tab.text('1 selected').waitFor();
      expect(await checkbox(2).isChecked()).toBe(true);
    });

    it('A move into the past is asked about first', async () => {
      await stage.sql(
        `update slots set delivery_time = now() + interval '1 hour', freeze_time = now() + interval '30 minutes' where id = 1`,
      );
      const [before] = await stored();
      await open('/slots');
      await pressOn(1, 'Alt+ArrowLeft');
      const dayBefore = await stage.sql<{ at: string }>(
        `select to_char(delivery_time at time zone 'Asia/Kolkata' - interval '1 day', 'YYYY-MM-DD"T"HH24:MI') as at from slots where id = 1`,
      );
      expect(await tab.time('New start').inputValue()).toBe(dayBefore[0]?.at);
      await tab.click('Move', tab.text('1 slot would be in the past.'));
      expect((await stored())[0]).toEqual(before);
      await tab.click('Move anyway', tab.notice('1 slot moved by −1 day'));
    });

    it('A slot that customers have booked is moved and deactivated only after a question', async () => {
      await stage.sql(
        `insert into slot_bookings (slot_id, order_key, units, state, created_at, booked_at)
         values (1, 'booked', 2, 'BOOKED', now(), now())`,
      );
      await stage.sql('update slots set capacity = 10 where id = 1');
      const [before] = await stored();
      await open();
      await pressOn(1, 'Alt+ArrowRight');
      await tab.click('Move', tab.text('Booked: 1 slot. Tell the customers about the new time.'));
      expect((await stored())[0]).toEqual(before);
      await tab.click('Move anyway', tab.notice('1 slot moved by 1 day'));
      await choose(1);
      await tab.click('Deactivate', tab.text('Booked: 1 slot. Their bookings stay.'));
      expect((await stored())[0]).toMatchObject({ is_active: true });
      await tab.click('Deactivate anyway', tab.notice('1 slot deactivated'));
    });

    it('Dragging one of the chosen slots moves them all', async () => {
      await open();
      await choose(1, 2);
      await slotLink(2).locator('xpath=ancestor::li').dragTo(cell(/3 May/, 9));
      await tab.notice('2 slots moved by 2 days and −3 h').waitFor();
      expect(await deliveries()).toEqual(['1: 05-03 07:15', '2: 05-03 09:00']);
    });

    it('“Move to…” brings a slot to another start, after a preview of it', async () => {
      await open();
      await checkbox(2).click();
      await tab.click('Move to…');
      await tab.time('New start').fill('2090-04-30T13:30');
      const row = /Mon 1 May 2090, 12:00 → Sun 30 Apr 2090, 13:30 Sun 30 Apr 2090, 09:30/;
      await tab.page.getByRole('row', { name: row }).waitFor();
      await tab.click('Move', tab.notice('1 slot moved by −1 day and 1 h 30 min'));
      expect((await stored())[1]).toMatchObject({ delivery: '04-30 13:30', freeze: '04-30 09:30' });
    });

    it('Of several slots, the first is brought to its new start, and the others keep their distance', async () => {
      await open();
      await choose(2, 1);
      await tab.click('Move to…');
      expect(await tab.time('New start of the first slot').inputValue()).toBe('2090-05-01T10:15');
      await tab.time('New start of the first slot').fill('2090-05-03T18:15');
      await tab.page.getByRole('row', { name: /Mon 1 May 2090, 12:00 → Wed 3 May 2090, 20:00/ }).waitFor();
      await tab.click('Move', tab.notice('2 slots moved by 2 days and 8 h'));
      expect(await deliveries()).toEqual(['1: 05-03 18:15', '2: 05-03 20:00']);
    });
  });

  describe('Copying', () => {
    beforeEach(async () => {
      await add(1, '2090-05-01 10:00');
      await add(2, '2090-05-02 10:00');
      await addSnippet(1, 'run');
    });
    const preview = () => tab.page.getByRole('dialog').getByRole('status');

    it('A week is copied to the next one after a preview of what is made and what is taken, which is undone', async () => {
      await add(3, '2090-05-09 10:00');
      await open();
      await tab.click('Copy this week to…');
      const sums = '1 slot will be created, 1 skipped because the time is taken. 1 snippet won’t be copied.';
      await expect.poll(() => preview().innerText()).toContain(sums);
      await tab.page.getByRole('row', { name: /Tue 9 May 2090, 10:00.*slot 3 is already at this time/ }).waitFor();
      expect(await deliveries()).toHaveLength(3);
      await tab.click('Create 1 slot', tab.notice('1 slot created, 1 skipped'));
      await slotLink(1001).waitFor();
      expect(tab.page.url()).toContain('day=2090-05-08');
      expect(await stored()).toContainEqual(
        expect.objectContaining({ id: 1001, delivery: '05-08 10:00', freeze: '05-08 06:00' }),
      );
      await undo('1 slot created');
      await expect.poll(active).toEqual([1, 2, 3]);
    });

    it('Snippets are taken along under the names of a template, and a name that is taken or a day before the week is told at its field', async () => {
      await open();
      await tab.click('Copy this week to…');
      await tab.field('Copy Monday to').fill('2090-05-01');
      await tab.click(/^(Copy|Create .*)$/, tab.text('Choose a later day, within a year.'));
      expect(await deliveries()).toHaveLength(2);
      await tab.fill({ 'Copy Monday to': '2090-05-08', 'Names of the copied snippets': '{name}' });
      await tab.text('Snippet name "run" already exists').first().waitFor();
      await tab.field('Names of the copied snippets').fill('{name} {date}');
      await tab.click('Create 2 slots', tab.notice('2 slots created'));
      const snippets = await stage.sql('select slot_id, snippet_code from vendor_snippets order by id');
      expect(snippets[1]).toEqual({ slot_id: 1001, snippet_code: 'run 2090-05-08' });
    });

    it('What an undo has taken back of a copy can be had again: its slots keep the names of the snippets', async () => {
      await addSnippet(2, 'run-2');
      // Deactivated long ago, at another time.
      await add(5, '2090-05-08 11:00', { isActive: false });
      await addSnippet(5, 'old');
      const copy = async () => {
        await open();
        await tab.click('Copy this week to…');
        await tab.field('Names of the copied snippets').fill('{name} {date}');
      };
      await copy();
      await tab.click('Create 2 slots');
      // Until the copies are read, the dialog is there, and a press beside it closes it.
      await slotLink(1001).waitFor();
      await undo('2 slots created');
      await tab.notice('Copy undone: 2 slots deactivated').waitFor();
      await tab.close();
      await copy();
      await tab.text('Snippet name "run 2090-05-08" already exists').first().waitFor();
      await tab.text(/^2 slots at these times are deactivated, and keep their snippets’ names/).waitFor();
      await tab.link('Open slot 1001').waitFor();
      await tab.click('Activate', tab.notice('2 slots activated'));
      expect(await active()).toEqual([1, 2, 1001, 1002]);
      await preview().getByText('0 slots will be created, 2 skipped because the time is taken').waitFor();
    });

    it('Chosen slots are copied for several weeks', async () => {
      await open();
      await checkbox(2).click();
      await tab.click('Copy to…');
      await tab.field('Number of copies').fill('3');
      await tab.click('Create 3 slots', tab.notice('3 slots created'));
      expect((await deliveries()).slice(2)).toEqual(['1001: 05-09 10:00', '1002: 05-16 10:00', '1003: 05-23 10:00']);
    });

    it('A placeholder that is none, and copies in the past, are asked about', async () => {
      await stage.sql(`update slots set delivery_time = delivery_time - interval '80 years'`);
      await open('/slots?day=2010-04-30');
      await tab.click('Copy this week to…');
      await tab.field('Names of the copied snippets').fill('{nmae} {date}');
      await tab.click(/^Create \d slots?$/);
      await tab.text('{nmae} is neither {name} nor {date}, and stays in the names as it is.').waitFor();
      await tab.text(/would be in the past/).waitFor();
      expect(await deliveries()).toHaveLength(2);
    });
  });

  it('Staff plan the next week from this one, with one change, by touch on a phone', async () => {
    await slots.addWeek();
    await open(undefined, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
    await slotLink(1).waitFor();
    await tab.button('Copy this week to…').tap();
    await tab.button('Create 12 slots').tap();
    await tab.notice('12 slots created').getByRole('button', { name: 'Close' }).tap();
    const first = (await stored()).find(({ delivery }) => delivery === '05-09 10:00');
    await checkbox(first?.id ?? 0).tap();
    await tab.button('Move to…').tap();
    await tab.field('New start').tap();
    await tab.time('New start').fill('2090-05-09T12:00');
    await tab.button('Move').tap();
    // A slot of the same group is there.
    await tab.button('Move anyway').tap();
    await tab.notice('1 slot moved by 2 h').waitFor();
    const times = await slots.planned();
    expect(times).toHaveLength(12);
    expect(times).toEqual(expect.arrayContaining(['05-08 12:00', '05-09 12:00', '05-09 14:00', '05-10 10:00']));
    expect(times).not.toContain('05-09 10:00');
  });
});
