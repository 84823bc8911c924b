import type { Client } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { runProgram } from '../../support/processes.ts';
import { colleague } from './clients.ts';
import { problemAt } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

/** The name of a slot with these times. */
const delivery = 'Tue 1 Jan 2030, 15:30';
const times = { deliveryTime: '2030-01-01T10:00:00Z', freezeTime: '2030-01-01T08:00:00Z' };

describeConsole('Activity', (stage, tab) => {
  let slots: Client<typeof SlotService>;
  let coupons: Client<typeof CouponService>;

  beforeAll(async () => {
    slots = await colleague(stage.slot, SlotService, 1);
    coupons = await colleague(stage.coupon, CouponService, 2);
  });

  const entries = () => tab.page.getByRole('list', { name: 'Changes' }).locator('.audit-entry');
  /** The first line of each entry. */
  const deeds = () => entries().locator('p:first-child').allTextContents();

  async function newSlot(productIds: number[] = []): Promise<number> {
    const { slot } = await slots.createSlot({ ...times, productIds });
    return slot?.id ?? 0;
  }

  /** The lines of the CSV file that is saved, without its headings. */
  const csv = async () => (await tab.savedCsv()).slice(1);

  it('Changes of slots and coupons stand in one list, newest first, in words, and lead to the records', async () => {
    const id = await newSlot();
    const { coupon } = await coupons.create({ coupon: { flatDiscount: 5, isApplyForAll: true } });
    await slots.updateSlotCapacity({ slotId: id, isCapacityFull: true });
    await coupons.delete({ id: coupon?.id ?? 0 });
    await tab.open();
    await tab.link('Activity').click();
    const expected = [
      `Ravi Iyer invalidated coupon ${coupon?.couponCode}`,
      `Asha Menon marked ${delivery} full`,
      `Ravi Iyer created coupon ${coupon?.couponCode}`,
      `Asha Menon created ${delivery}`,
    ];
    await expect.poll(async () => (await deeds()).slice(0, 4)).toEqual(expected);
    const newest = entries().first();
    await newest.getByText('No → became Yes').waitFor();
    await newest.getByRole('link', { name: `coupon ${coupon?.couponCode}` }).click();
    await tab.page.waitForURL(`**/coupons/${coupon?.id}`);
  });

  it('A change of products tells which were added and removed, and a time is that of the business, on a phone, too', async () => {
    const id = await newSlot([1, 2, 3, 4, 5, 6, 7, 8]);
    await slots.updateSlotProducts({ slotId: id, productIds: [1, 9, 10] });
    await slots.updateSlot({ id, ...times, deliveryTime: '2030-01-01T11:00:00Z' });
    await tab.open(`/audit?type=slot&id=${id}`, { viewport: { width: 360, height: 640 } });
    await entries().nth(0).getByText('Tue 1 Jan 2030, 15:30 → became Tue 1 Jan 2030, 16:30').waitFor();
    await tab.text('+2 added: Product 9, Product 10').waitFor();
    await tab.text('7 removed: Product 2, Product 3, Product 4, Product 5, Product 6').waitFor();
    await tab.text('and 2 more').click();
    await tab.text('Product 7, Product 8').waitFor();
    expect(await tab.overflow()).toBe(0);
  });

  it('Staff filter the trail, and whoever gets the address sees the same', async () => {
    const id = await newSlot([1]);
    await slots.updateSlotProducts({ slotId: id, productIds: [2] });
    const others = await colleague(stage.slot, SlotService, 2);
    await others.updateSlotProducts({ slotId: id, productIds: [3] });
    await tab.open('/audit');
    await tab.select(/Record$/, 'Slot');
    await tab.select(/Person$/, 'Ravi Iyer');
    await tab.select(/Change$/, 'Changed the products of a slot');
    await tab.click('More filters');
    await tab.field('Record number').fill(String(id));
    await tab.time('From').fill('2025-01-01T00:00');
    await tab.click('Show');
    const found = [`Ravi Iyer changed the products of ${delivery}`];
    await expect.poll(deeds).toEqual(found);
    expect(new URL(tab.page.url()).searchParams.get('since')).toBe('2024-12-31T18:30:00.000Z');
    await tab.page.reload();
    await expect.poll(deeds).toEqual(found);
    expect(await tab.time('From').inputValue()).toBe('2025-01-01T00:00');
    await tab.click('Clear filters');
    await tab.page.waitForURL('**/audit');
    await tab.button(/Anybody/).waitFor();
    await expect.poll(async () => (await deeds()).length).toBeGreaterThan(3);
  });

  it('The changes of today and of yesterday are a choice away, by the business’s days', async () => {
    const entry = (subject: string, at: string) => `
      insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, before, after)
      values (${at}, 'p', '${subject}', 'r', 'slot', 1, '{}', '{}')`;
    const midnight = `date_trunc('day', now(), 'Asia/Kolkata')`;
    await stage.sql(entry('early', midnight));
    await stage.sql(entry('late', `${midnight} - interval '1 ms'`));
    await stage.sql(entry('old', `${midnight} - interval '1 day 1 ms'`));
    const found = async () =>
      (await deeds()).map((deed) => deed.split(' ')[0]).filter((who) => /early|late|old/.test(who ?? ''));
    await tab.open('/audit?by=early');
    await entries().first().waitFor();
    for (const [when, expected] of [
      ['Today', ['early']],
      ['Yesterday', ['late']],
      ['Last 7 days', ['early', 'late', 'old']],
    ] as const) {
      await tab.page.goto(`${stage.origin}/audit`);
      await tab.select(/When$/, when);
      await expect.poll(found).toEqual(expected);
    }
  });

  it('A filter that can’t be has the reason at its field', async () => {
    await tab.open('/audit?id=7th&since=yesterday');
    await problemAt(tab, 'Record number', 'Enter a whole number.').waitFor();
    expect(await entries().count()).toBe(0);
  });

  it('A long trail is read page by page while staff scroll, and keeps its order', async () => {
    const insert = (type: string, first: number) => `
      insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, before, after)
      select timestamptz '2020-01-01Z' - n * interval '1 second', 'p', 'long', 'r' || n, '${type}', 5000 + n, '{}', '{}'
      from generate_series(${first}, 180, 3) as n`;
    // Two of three entries are of slots, so that neither trail ends with the other.
    await stage.sql(insert('slot', 1));
    await stage.sql(insert('slot', 2));
    await stage.sql(insert('user', 3));
    await tab.open('/audit?by=long');
    await entries().first().waitFor();
    expect(await entries().count()).toBeLessThan(120);
    const scrolled = async () => {
      await tab.press('End');
      return entries().count();
    };
    await expect.poll(scrolled).toBe(180);
    const numbers = (await deeds()).map((deed) => Number(/\d+$/.exec(deed)?.[0]) - 5000);
    expect(numbers).toEqual(Array.from({ length: 180 }, (_, index) => index + 1));
    expect(await tab.button('Show more').count()).toBe(0);
  });

  it('The trail as it is filtered is saved as a CSV file, newest first, whichever service has an entry', async () => {
    const slotId = await newSlot([1]);
    const { coupon } = await coupons.create({ coupon: { couponCode: 'FOR-CSV', flatDiscount: 5 } });
    await slots.deleteSlot({ id: slotId });
    await tab.open('/audit');
    await entries().first().waitFor();
    const rows = (await csv()).slice(0, 3);
    expect(rows).toEqual([
      expect.stringMatching(`,"Asha Menon","deactivated slot ${slotId}","{""isActive"":true}","{""isActive"":false}",`),
      expect.stringMatching(`,"Ravi Iyer","created coupon ${coupon?.id}","","{.*FOR-CSV`),
      expect.stringMatching(`,"Asha Menon","created slot ${slotId}","","{.*""productIds"":\\[1\\]`),
    ]);
    await tab.page.goto(`${stage.origin}/audit?type=coupon&id=${coupon?.id}`);
    await entries().first().waitFor();
    expect(await csv()).toEqual([rows[1]]);
  });

  it('The page of a slot has the history of this slot, which follows what others change', async () => {
    const id = await newSlot();
    await newSlot();
    for (let n = 1; n <= 11; n += 1) await slots.updateSlotProducts({ slotId: id, productIds: [n] });
    await tab.open(`/slots/${id}`);
    const history = tab.section('History').locator('.audit-entry');
    await expect.poll(() => history.count()).toBe(10);
    await tab.section('History').getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => history.count()).toBe(12);
    await history.last().getByText(`created ${delivery}`).waitFor();
    await slots.updateSlotCapacity({ slotId: id, isCapacityFull: true });
    await history.first().getByText(`marked ${delivery} full`).waitFor();
  });

  it('A recovery of the database stands in the trail, and in the history of the records that were there before', async () => {
    const older = await newSlot();
    const DATABASE_URL = stage.slot.database.url;
    expect((await runProgram('shared/audit/recovered-main.ts', [], { DATABASE_URL })).code).toBe(0);
    const newer = await newSlot();
    const recovered = 'operator recovered the database from a backup';
    await tab.open('/audit');
    await entries().filter({ hasText: recovered }).getByText('Changes may be missing since').waitFor();
    const history = () => tab.section('History').locator('.audit-entry p:first-child').allTextContents();
    await tab.page.goto(`${stage.origin}/slots/${older}`);
    await expect.poll(history).toEqual([recovered, `Asha Menon created ${delivery}`]);
    await tab.page.goto(`${stage.origin}/slots/${newer}`);
    await expect.poll(history).toEqual([`Asha Menon created ${delivery}`]);
  });

  it('While coupon-service is away the changes of slots are shown, and the page says what is missing', async () => {
    await newSlot();
    await stage.coupon.restart(async () => {
      await tab.open('/audit');
      await tab.link(delivery).first().waitFor();
      await tab.text('Coupon and customer changes couldn’t be loaded').waitFor();
    });
    // It may have come back by itself.
    const again = tab.button('Try again');
    await again.click({ timeout: 2_000 }).catch(() => undefined);
    await expect.poll(() => tab.text('missing here').count()).toBe(0);
    await entries().getByText('invalidated').first().waitFor();
  });
});
