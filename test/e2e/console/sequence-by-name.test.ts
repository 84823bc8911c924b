import type { Locator } from 'playwright-core';
import { beforeEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('The delivery sequence by name', (stage, tab) => {
  let id = 100;

  stage.prepare(
    `update users set name = 'Aarti Rao' where id = 1;
       insert into orders (id, user_id, total_amount) select n, 1 + n / 20, 100 from generate_series(11, 20) n`,
  );

  beforeEach(async () => {
    id += 1;
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, delivery_sequence)
       values ($1, now() + interval '2 days', now() + interval '1 day', '{"1": [12, 11]}')`,
      [id],
    );
    await tab.open(`/slots/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  });

  const stored = async () => {
    const [slot] = await stage.sql('select delivery_sequence from slots where id = $1', [id]);
    return slot?.delivery_sequence;
  };
  async function paste(field: Locator, text: string): Promise<void> {
    await tab.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
    await field.focus();
    await tab.press('Control+v');
  }
  const field = () => tab.field('Add orders');
  const change = () => tab.button('Edit delivery sequence').click();
  const saved = () => tab.notice('Delivery sequence updated successfully').waitFor();
  const orders = () => tab.page.getByRole('grid', { name: 'Orders of Aarti Rao' }).getByRole('row');

  it('Users and orders have names, no JSON is in sight, a list that is pasted is added as a whole, and the history names it', async () => {
    await tab.section('Delivery sequence').getByText('Order 12: Aarti Rao, 100.00').waitFor();
    await change();
    expect(await tab.field('As JSON').isVisible()).toBe(false);
    await paste(field(), '14, 15 16');
    await expect.poll(() => orders().count()).toBe(5);
    await paste(field(), '17\n18\n');
    await expect.poll(() => orders().count()).toBe(7);
    await tab.click('Save');
    await saved();
    expect(await stored()).toEqual({ 1: [12, 11, 14, 15, 16, 17, 18] });
    const history = tab.section('History');
    await history.getByText('Aarti Rao: added 14, 15, 16, 17, 18').waitFor();
    expect(await history.getByText('{').count()).toBe(0);
  });

  it('An order that does not exist is not added, by “Add” or by Enter, and stays with a reason', async () => {
    await change();
    for (const [text, lost] of [
      ['14, fifteen', 'fifteen'],
      ['-3', '-3'],
      ['5432109876543', '5432109876543'],
    ] as const) {
      await field().fill(text);
      if (text === '-3') await tab.press('Enter');
      else await tab.click('Add');
      await tab.text(`Orders not found: ${lost}.`).waitFor();
      expect(await field().inputValue()).toBe(text);
      expect(await orders().count()).toBe(2);
    }
  });

  it('Each order becomes the last stop of its own customer, by the business’s own key, too', async () => {
    await stage.sql(`update orders set external_id = 'web/20' where id = 20`);
    await change();
    await field().fill('web/20 13');
    await tab.text('Order web/20: User 2, 100.00; Order 13: Aarti Rao, 100.00').waitFor();
    await field().press('Enter');
    await expect.poll(() => orders().count()).toBe(3);
    expect(await field().inputValue()).toBe('');
    await tab.page.getByRole('grid', { name: 'Orders of User 2' }).getByText('Order web/20').waitFor();
    await tab.click('Save');
    await saved();
    expect(await stored()).toEqual({ 1: [12, 11, 13], 2: [20] });
  });

  it('An order of somebody else and one that is there already are asked about, those of before are not', async () => {
    await stage.sql(`update slots set delivery_sequence = '{"1": [12, 12, 20]}' where id = $1`, [id]);
    await tab.page.reload();
    await change();
    await field().fill('13');
    await tab.text('Order 13: Aarti Rao, 100.00').waitFor();
    await tab.click('Save');
    await saved();
    await change();
    await tab.text('Advanced: the sequence as JSON').click();
    await tab.field('As JSON').fill('{"1": [12, 12, 20, 13], "2": [14]}');
    await field().fill('13');
    await tab.click('Save');
    const question = tab.page.getByRole('alertdialog', { name: 'Is this right?' }).getByRole('paragraph');
    await expect
      .poll(async () => (await question.allInnerTexts()).toSorted())
      .toEqual(['Order 13 is listed 2 times.', 'Order 14 belongs to Aarti Rao, not User 2.']);
  });

  it('Staff are asked before they cancel what they have changed, and only then', async () => {
    await change();
    await tab.click('Cancel');
    await change();
    await tab.click('Remove order 12');
    await tab.click('Cancel', tab.heading('Leave without saving?'));
    await tab.click('Stay here');
    expect(await orders().count()).toBe(1);
    await tab.click('Cancel');
    await tab.click('Leave', tab.button('Edit delivery sequence'));
    expect(await stored()).toEqual({ 1: [12, 11] });
  });

  it('The history says whose orders were added, removed and put in another order', async () => {
    for (const sequence of ['{"1": [11, 12], "2": [18]}', '{"1": [12, 11], "2": [19]}']) {
      await change();
      await tab.text('Advanced: the sequence as JSON').click();
      await tab.field('As JSON').fill(sequence);
      await tab.click('Save');
      await tab.click('Save anyway');
      await tab.button('Save anyway').waitFor({ state: 'detached' });
      await tab.button('Edit delivery sequence').waitFor();
    }
    const history = tab.section('History');
    await history.getByText('User 2: added 19; removed 18').waitFor();
    await history.getByText('Aarti Rao: reordered').first().waitFor();
  });

  it('An unknown order is not saved even before it was looked up; as JSON it is asked about, and is marked', async () => {
    await change();
    await orders().getByText('Order 12: Aarti Rao, 100.00').waitFor();
    const release = await tab.hold(/CatalogService\/GetOrders/);
    await field().fill('424242');
    await tab.click('Save', tab.button('Saving…'));
    release();
    await tab.text('Orders not found: 424242.').waitFor();
    expect(await stored()).toEqual({ 1: [12, 11] });
    await field().fill('');
    await tab.text('Advanced: the sequence as JSON').click();
    await tab.field('As JSON').fill('{"1": [12, 11, 424242]}');
    await orders().getByText('424242: order not found').waitFor();
    await tab.click('Save');
    await tab.click('Save anyway');
    await saved();
    expect(await stored()).toEqual({ 1: [12, 11, 424_242] });
  });

  it('What was typed and not added counts as a change', async () => {
    await change();
    await field().fill('13');
    await tab.click('Save');
    await saved();
    expect(await stored()).toEqual({ 1: [12, 11, 13] });
    await change();
    await field().fill('5432109876543');
    await tab.follow('Coupons', 'Leave without saving?');
  });
});
