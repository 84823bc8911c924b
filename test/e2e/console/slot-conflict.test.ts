import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { signToken } from '../../support/tokens.ts';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('Two people who edit one slot', () => {
  let stage: ConsoleStage;
  let mine: ConsoleTab;
  let theirs: ConsoleTab;
  let id = 100;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  beforeEach(async () => {
    id += 1;
    await stage.slot.database.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, delivery_sequence)
       values ($1, '2090-05-01T10:00+05:30', '2090-05-01T06:30+05:30', '{2}', '{"1": [11, 12]}')`,
      [id],
    );
    await stage.slot.database.sql('insert into product_slots values ($1, 1), ($1, 2)', [id]);
    const path = `/slots/${id}`;
    [mine, theirs] = await Promise.all([
      stage.openTab({ path }),
      stage.openTab({ path, token: await signToken({ staffId: 2, subject: 'staff-2' }) }),
    ]);
  });

  afterEach(() => Promise.all([mine.close(), theirs.close()]));

  afterAll(() => stage.close());

  const freezeTime = async () => {
    const [row] = await stage.slot.database.sql<{ freeze_time: Date }>('select freeze_time from slots where id = $1', [
      id,
    ]);
    return row?.freeze_time.toISOString();
  };

  /** Both begin to edit the times; the other one saves first. */
  async function bothEditTimes(): Promise<void> {
    for (const tab of [mine, theirs]) await tab.button('Edit times and groups').click();
    await theirs.field('Orders close').fill('2090-05-01T05:00');
    await theirs.button('Save').click();
    await theirs.notice('Slot updated successfully').waitFor();
    await mine.field('Orders close').fill('2090-05-01T08:00');
    await mine.button('Save').click();
    await mine.heading(`Somebody else has changed slot ${id}`).waitFor();
  }

  it('Who is slower sees both versions, and who was quicker, and nothing is overwritten', async () => {
    await bothEditTimes();
    const row = mine.page.getByRole('row', { name: /Orders close/ });
    expect(await row.innerText()).toMatch(/May 1, 2090, 8:00 AM\s+May 1, 2090, 5:00 AM/);
    await mine.page
      .getByRole('alertdialog')
      .getByText(/staff-2/)
      .waitFor();
    expect(await freezeTime()).toBe('2090-04-30T23:30:00.000Z');
  });

  it('Who is slower saves their own version over the other one', async () => {
    await bothEditTimes();
    await mine.button('Save my version').click();
    await mine.notice('Slot updated successfully').waitFor();
    expect(await freezeTime()).toBe('2090-05-01T02:30:00.000Z');
  });

  it('Who is slower goes on with the other version', async () => {
    await bothEditTimes();
    await mine.button('Use the saved version').click();
    expect(await mine.field('Orders close').inputValue()).toBe('2090-05-01T05:00');
    expect(await freezeTime()).toBe('2090-04-30T23:30:00.000Z');
  });

  it('Who is slower goes back to the form, which still has their own version', async () => {
    await bothEditTimes();
    await mine.button('Back to editing').click();
    expect(await mine.field('Orders close').inputValue()).toBe('2090-05-01T08:00');
  });

  it('The products of both are shown, and the choice is saved', async () => {
    for (const tab of [mine, theirs]) await tab.button('Change products').click();
    await theirs.button('Remove Product 2').click();
    await theirs.button('Save').click();
    await theirs.notice('0 added, 1 removed').waitFor();
    await mine.pick('Products', 'Product 17');
    await mine.button('Save').click();
    const row = mine.page.getByRole('row', { name: /^Products/ });
    expect(await row.innerText()).toMatch(/Product 1, Product 2, Product 17\s+Product 1$/);
    await mine.button('Save my version').click();
    await mine.notice(/2 added, 0 removed/).waitFor();
  });

  it('The delivery sequences of both are shown, and the choice is saved', async () => {
    for (const tab of [mine, theirs]) await tab.button('Change the sequence').click();
    await theirs.field('As JSON').fill('{"1": [12]}');
    await theirs.button('Save').click();
    await theirs.notice('Delivery sequence updated successfully').waitFor();
    await mine.field('As JSON').fill('{"1": [12, 11]}');
    await mine.button('Save').click();
    await mine.button('Save my version').click();
    await mine.notice('Delivery sequence updated successfully').waitFor();
    const [slot] = await stage.slot.database.sql('select delivery_sequence from slots where id = $1', [id]);
    expect(slot).toEqual({ delivery_sequence: { 1: [12, 11] } });
  });

  it('A page that is only looked at shows what the other one has changed', async () => {
    await theirs.button(`Mark full: slot ${id}`).click();
    await mine.page.getByRole('main').locator('header').getByText('Full', { exact: true }).waitFor();
  });
});
