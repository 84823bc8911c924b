import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { colleague } from './clients.ts';
import { insertCoupon, readCoupons } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('A record that somebody else changes meanwhile', (stage, tab) => {
  let theirs: Client<typeof SlotService>;
  let id = 100;

  beforeAll(async () => {
    theirs = await colleague(stage.slot, SlotService, 2);
  });

  beforeEach(async () => {
    id += 1;
    await stage.sql('truncate slots cascade');
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time, group_ids, delivery_sequence)
       values ($1, '2090-05-01T10:00+05:30', '2090-05-01T06:30+05:30', '{2}', '{"1": [11, 12]}')`,
      [id],
    );
    await tab.open(`/slots/${id}`);
  });

  const stored = async () => (await stage.sql<Record<string, unknown>>('select * from slots where id = $1', [id]))[0];
  const freeze = (time: string) => ({ freeze_time: new Date(`2090-05-01T${time}+05:30`) });
  const saveTheirs = (freezeTime: string, deliveryTime = '10:00') => {
    const times = { deliveryTime: `2090-05-01T${deliveryTime}+05:30`, freezeTime: `2090-05-01T${freezeTime}+05:30` };
    return theirs.updateSlot({ id, ...times, groupIds: [2] });
  };
  const dialog = () => tab.page.getByRole('alertdialog', { name: /Someone else/ });
  const saveChoice = () => dialog().getByRole('button', { name: 'Save' }).click();
  const saved = () => tab.notice('Slot updated successfully').waitFor();

  /** Both have changed the end of orders, and the other one has saved first. */
  async function contradict(): Promise<void> {
    await tab.click('Edit times and groups');
    await tab.time('Orders close').fill('2090-05-01T08:00');
    await saveTheirs('05:00');
    await tab.click('Save', tab.heading(`Someone else changed slot ${id}`));
  }

  it('Who is slower sees both versions of what contradicts, and who was quicker, nothing is overwritten, and the own one is saved', async () => {
    await contradict();
    for (const text of ['Yours: Mon 1 May 2090, 08:00', 'Theirs: Mon 1 May 2090, 05:00', 'Ravi Iyer'])
      await dialog().getByText(text).waitFor();
    expect(await dialog().getByRole('radiogroup').count()).toBe(1);
    expect(await stored()).toMatchObject(freeze('05:00'));
    await saveChoice();
    await saved();
    expect(await stored()).toMatchObject(freeze('08:00'));
  });

  it('Who is slower saves the other version where it is right', async () => {
    await contradict();
    await dialog().getByText('Theirs: Mon 1 May 2090, 05:00').click();
    await saveChoice();
    await saved();
    expect(await stored()).toMatchObject(freeze('05:00'));
  });

  it('Who goes back to the form still has their own version, and “Orders close” moves along from the delivery that the other one has saved', async () => {
    await tab.click('Edit times and groups');
    await tab.time('Orders close').fill('2090-05-01T08:00');
    await saveTheirs('05:00', '12:00');
    await tab.click('Save');
    await tab.click('Keep editing');
    expect(await tab.time('Orders close').inputValue()).toBe('2090-05-01T08:00');
    await expect.poll(() => tab.time('Delivery time').inputValue()).toBe('2090-05-01T12:00');
    await tab.time('Delivery time').fill('2090-05-01T13:00');
    expect(await tab.time('Orders close').inputValue()).toBe('2090-05-01T09:00');
  });

  it('What only one of them has changed is saved at once, and the other one’s change stays', async () => {
    await tab.click('Edit times and groups');
    await tab.pick('Groups', 'Group 3');
    await saveTheirs('05:00');
    await tab.click('Save', tab.notice('changes are kept too'));
    expect(await stored()).toMatchObject({ ...freeze('05:00'), group_ids: [2, 3] });
  });

  it('Of a delivery sequence, only the user whose orders both have moved is asked about', async () => {
    await tab.click('Edit delivery sequence');
    await tab.text('Advanced: the sequence as JSON').click();
    await tab.field('As JSON').fill('{"1": [12, 11], "2": [21]}');
    await theirs.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, { 1: [12], 3: [31] }) });
    await tab.click('Save');
    // No order has these numbers.
    await tab.click('Save anyway', dialog().getByRole('radiogroup', { name: 'User 1' }));
    expect(await dialog().getByRole('radiogroup').count()).toBe(1);
    await saveChoice();
    await tab.notice('Delivery sequence updated successfully').waitFor();
    expect(await stored()).toMatchObject({ delivery_sequence: { 1: [12, 11], 2: [21], 3: [31] } });
  });

  it('A page that is only looked at shows what the other one has changed', async () => {
    await tab.button('Edit times and groups').waitFor();
    await theirs.updateSlotCapacity({ slotId: id, isCapacityFull: true });
    await tab.page.getByRole('main').locator('header').getByText('Full', { exact: true }).waitFor();
  });

  it('Of a coupon, the own version is saved over a third one that came meanwhile, once it was shown, and it stays invalidated', async () => {
    const couponId = await insertCoupon(stage.coupon, { min_order: 500, max_value: 150 });
    const change = (what: string) => stage.sql(`update coupons set ${what}, etag = next_etag() where id = ${couponId}`);
    await tab.open(`/coupons/${couponId}/edit`);
    await tab.fill({ 'Maximum discount': '99', 'Minimum order': '600' });
    await change('min_order = 700, is_invalidated = true');
    await tab.click('Save', dialog().getByText('Theirs: 700'));
    expect(await dialog().getByRole('radiogroup').count()).toBe(1);
    await change('min_order = 750');
    await saveChoice();
    await dialog().getByText('Theirs: 750').waitFor();
    await saveChoice();
    await tab.notice('Coupon SAVE10 saved').waitFor();
    const expected = { min_order: '600', max_value: '99', is_invalidated: true };
    expect(await readCoupons(stage.coupon)).toMatchObject([expected]);
  });
});
