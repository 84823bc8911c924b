import { afterEach, beforeEach, expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

describeConsole('Two people who edit one slot', (stage) => {
  let mine: ConsoleTab;
  let theirs: ConsoleTab;
  let id = 100;

  beforeEach(async () => {
    id += 1;
    await stage.sql('truncate slots cascade; truncate product_slots');
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, delivery_sequence)
       values ($1, '2090-05-01T10:00+05:30', '2090-05-01T06:30+05:30', '{2}', '{"1": [11, 12]}')`,
      [id],
    );
    await stage.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    const path = `/slots/${id}`;
    [mine, theirs] = await Promise.all([
      stage.openTab({ path }),
      stage.openTab({ path, token: await signToken({ staffId: 2, subject: 'staff-2' }) }),
    ]);
  });

  afterEach(() => Promise.all([mine.close(), theirs.close()]));

  const freezeTime = async () => {
    const [row] = await stage.sql<{ freeze_time: Date }>('select freeze_time from slots where id = $1', [id]);
    return row?.freeze_time.toISOString();
  };

  /** Both have changed the end of orders, and the other one saves first. */
  async function contradict(): Promise<void> {
    for (const tab of [mine, theirs]) await tab.button('Edit times and groups').click();
    await theirs.field('Orders close').fill('2090-05-01T05:00');
    await theirs.button('Save').click();
    await theirs.notice('Slot updated successfully').waitFor();
    await mine.field('Orders close').fill('2090-05-01T08:00');
    await mine.button('Save').click();
    await mine.heading(`Somebody else has changed slot ${id}`).waitFor();
  }

  const option = (name: string) => mine.page.getByRole('radio', { name });

  it('Who is slower sees both versions of what contradicts, and who was quicker, nothing is overwritten, and the own one is saved', async () => {
    await contradict();
    const dialog = mine.page.getByRole('alertdialog');
    await dialog.getByText('Yours: 1 May 2090, 08:00').waitFor();
    await dialog.getByText('Theirs: 1 May 2090, 05:00').waitFor();
    await dialog.getByText('Ravi Iyer').waitFor();
    expect(await dialog.getByRole('radiogroup').count()).toBe(1);
    expect(await freezeTime()).toBe('2090-04-30T23:30:00.000Z');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await mine.notice('Slot updated successfully').waitFor();
    expect(await freezeTime()).toBe('2090-05-01T02:30:00.000Z');
  });

  it('Who is slower saves the other version where it is right', async () => {
    await contradict();
    await option('Theirs').check({ force: true });
    await mine.page.getByRole('alertdialog').getByRole('button', { name: 'Save' }).click();
    await mine.notice('Slot updated successfully').waitFor();
    expect(await freezeTime()).toBe('2090-04-30T23:30:00.000Z');
  });

  it('Who goes back to the form still has their own version, and “Orders close” moves along from the delivery that the other one has saved', async () => {
    for (const tab of [mine, theirs]) await tab.button('Edit times and groups').click();
    await theirs.field('Delivery time').fill('2090-05-01T12:00');
    await theirs.field('Orders close').fill('2090-05-01T05:00');
    await theirs.button('Save').click();
    await theirs.notice('Slot updated successfully').waitFor();
    await mine.field('Orders close').fill('2090-05-01T08:00');
    await mine.button('Save').click();
    await mine.button('Back to editing').click();
    expect(await mine.field('Orders close').inputValue()).toBe('2090-05-01T08:00');
    await expect.poll(() => mine.field('Delivery time').inputValue()).toBe('2090-05-01T12:00');
    await mine.field('Delivery time').fill('2090-05-01T13:00');
    expect(await mine.field('Orders close').inputValue()).toBe('2090-05-01T09:00');
  });

  it('What only one of them has changed is saved at once, and the other one’s change stays', async () => {
    for (const tab of [mine, theirs]) await tab.button('Edit times and groups').click();
    await theirs.field('Orders close').fill('2090-05-01T05:00');
    await theirs.button('Save').click();
    await theirs.notice('Slot updated successfully').waitFor();
    await mine.pick('Groups', 'Group 3');
    await mine.button('Save').click();
    await mine.notice('Theirs are kept, too').waitFor();
    const [slot] = await stage.sql('select freeze_time, group_ids from slots where id = $1', [id]);
    expect(slot).toEqual({ freeze_time: new Date('2090-04-30T23:30:00.000Z'), group_ids: [2, 3] });
  });

  it('Of a delivery sequence, only the user whose orders both have moved is asked about', async () => {
    const json = async (tab: ConsoleTab, text: string) => {
      await tab.button('Change the sequence').click();
      await tab.text('Advanced: the sequence as JSON').click();
      await tab.field('As JSON').fill(text);
    };
    await json(mine, '{"1": [12, 11], "2": [21]}');
    await json(theirs, '{"1": [12], "3": [31]}');
    for (const tab of [theirs, mine]) {
      await tab.button('Save').click();
      // No order has these numbers.
      await tab.button('Save all the same').click();
    }
    const dialog = mine.page.getByRole('alertdialog', { name: /Somebody else/ });
    await dialog.getByRole('radiogroup', { name: 'User 1' }).waitFor();
    expect(await dialog.getByRole('radiogroup').count()).toBe(1);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await mine.notice('Delivery sequence updated successfully').waitFor();
    const [slot] = await stage.sql('select delivery_sequence from slots where id = $1', [id]);
    expect(slot).toEqual({ delivery_sequence: { 1: [12, 11], 2: [21], 3: [31] } });
  });

  it('A page that is only looked at shows what the other one has changed', async () => {
    await theirs.button(`Mark full: slot ${id}`).click();
    await mine.page.getByRole('main').locator('header').getByText('Full', { exact: true }).waitFor();
  });
});
