import { readFile } from 'node:fs/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { GetBatchRequestSchema } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { choose, deleteCoupons, insertCoupon, overflow, problemAt, readCoupons, row } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('Many codes', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
    await tab.close();
    await deleteCoupons(stage.coupon);
    await stage.coupon.database.sql('delete from coupon_batches');
  });

  afterAll(() => stage.close());

  /** Makes a batch of coupons over 50, the first of which is invalidated. Returns its id. */
  async function insertBatch(name: string, count: number): Promise<number> {
    const { sql } = stage.coupon.database;
    const [batch] = await sql<{ id: number }>(
      `insert into coupon_batches (name, count, created_by) values ($1, $2, 2) returning id`,
      [name, count],
    );
    const id = batch?.id ?? 0;
    await sql(
      `insert into coupons (batch_id, coupon_code, flat_discount, is_apply_for_all, created_by)
       select $1::integer, 'B' || $1::integer || '-' || n, 50, true, 2 from generate_series(1, $2::integer) n`,
      [id, count],
    );
    await sql(`update coupons set is_invalidated = true where coupon_code = $1`, [`B${id}-1`]);
    return id;
  }

  const codes = () => tab.page.getByRole('rowheader').allInnerTexts();
  const facts = async () => {
    const texts = await tab.section('Batch').locator('dl > div').allInnerTexts();
    return texts.map((text) => text.replace(/\s+/g, ' ')).slice(1, 4);
  };

  it('Staff make many codes at once, with the terms of a coupon, for chosen users and products', async () => {
    tab = await stage.openTab({ path: '/coupons' });
    await tab.link('Many codes').click();
    await tab.page.getByText('No batches yet.').waitFor();
    await tab.link('New batch').click();
    await tab.field('Name').fill('Spring letters');
    await tab.field('How many codes').fill('30');
    await tab.field('Codes begin with').pressSequentially('spring-');
    await tab.field('Random letters and digits').fill('12');
    await choose(tab, 'For whom', 'Chosen users');
    await tab.pick('Users', 'User 2');
    await tab.field('Percent off').fill('10');
    await tab.field('Largest discount').fill('150');
    await tab.field('Uses for each user').fill('1');
    await tab.pick('Products', 'Product 4');
    await tab.button('Make the codes').dblclick();
    await tab.notice('30 codes made').waitFor();
    await tab.page.getByRole('heading', { name: 'Spring letters', level: 1 }).waitFor();
    await expect.poll(facts).toEqual(['Codes 30', 'Invalidated 0', 'Created by Asha Menon']);
    const coupons = await readCoupons(stage.coupon);
    expect(coupons).toHaveLength(30);
    expect(new Set(coupons.map((coupon) => coupon.coupon_code)).size).toBe(30);
    for (const coupon of coupons) {
      expect(coupon).toMatchObject({ discount_percent: '10', max_value: '150', max_limit_for_user: 1 });
      expect(coupon).toMatchObject({ is_user_based: true, users: [2], products: [4] });
      expect(coupon.coupon_code).toMatch(/^SPRING-[A-Z2-9]{12}$/);
    }
    await tab
      .section('History')
      .getByText(/created batch of coupons \d+/)
      .waitFor();
    await tab.section('History').getByText('Spring letters').waitFor();
  });

  it('While the codes are made, the form says so, and can’t be changed', async () => {
    tab = await stage.openTab({ path: '/coupons/batches/new' });
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await tab.page.route(/CreateBatch/, async (route) => {
      await released;
      await route.continue();
    });
    await tab.field('How many codes').fill('2000');
    await choose(tab, 'For whom', 'Everyone');
    await tab.field('Percent off').fill('10');
    await tab.button('Make the codes').click();
    await tab.button('Making 2,000 codes…').waitFor();
    await expect.poll(() => tab.page.locator('form > [inert]').count()).toBe(2);
    release();
    await tab.page.getByRole('heading', { name: /^Batch \d/, level: 1 }).waitFor();
  });

  it('What a batch can’t be is told at its field, and what looks like a mistake is asked about', async () => {
    tab = await stage.openTab({ path: '/coupons/batches/new' });
    await tab.field('How many codes').fill('10001');
    await tab.field('Codes begin with').fill('A B');
    await tab.field('Random letters and digits').fill('7');
    await tab.button('Make the codes').click();
    await problemAt(tab, 'How many codes', 'Enter 1 to 10,000.').waitFor();
    await problemAt(tab, 'Codes begin with', 'Enter letters from A to Z, digits and hyphens.').waitFor();
    await problemAt(tab, 'Random letters and digits', 'Enter 8 to 32.').waitFor();
    await problemAt(tab, 'Percent off', 'Enter a percentage, such as 10.').waitFor();
    await tab.field('How many codes').fill('1');
    await tab.field('Codes begin with').fill('AB-');
    await tab.field('Random letters and digits').fill('8');
    await tab.field('Percent off').fill('10');
    await tab.button('Make the codes').click();
    await tab.page.getByText('The coupon is for nobody').waitFor();
    await tab.button('Correct it').click();
    await choose(tab, 'For whom', 'Chosen users');
    await tab.button('Make the codes').click();
    await tab.page.getByText('Choose at least one user.').waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });

  it('The list of batches tells how many codes each has, and who made it, newest first', async () => {
    await insertBatch('Letters', 3);
    const id = await insertBatch('', 1_200);
    tab = await stage.openTab({ path: '/coupons/batches' });
    await expect.poll(codes).toEqual([`Batch ${id}`, 'Letters']);
    const cells = (await row(tab, `Batch ${id}`).getByRole('cell').allInnerTexts()).slice(0, 3);
    expect(cells).toEqual(['1,200', '1', 'Ravi Iyer']);
    await tab.link('Letters').click();
    await expect.poll(codes).toHaveLength(3);
  });

  it('A batch’s page lists its coupons page by page, and finds one by its code', async () => {
    const id = await insertBatch('Letters', 2_100);
    tab = await stage.openTab({ path: `/coupons/batches/${id}` });
    await row(tab, `B${id}-1`).getByText('Invalidated').waitFor();
    const rows = tab.page.getByRole('rowheader');
    await rows.last().scrollIntoViewIfNeeded();
    await expect.poll(() => rows.count()).toBeGreaterThan(50);
    await tab.field('Search by code').fill(`b${id}-2100`);
    await expect.poll(codes).toEqual([`B${id}-2100`]);
  });

  it('All codes of a batch are saved as a CSV file, which says meanwhile how far it has come', async () => {
    const id = await insertBatch('Letters', 2_100);
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: `/coupons/batches/${id}` });
    await row(tab, `B${id}-1`).waitFor();
    await tab.page.route(/GetBatch/, async (route) => {
      const asked = route.request().postDataBuffer();
      // The page tells of the first rows before it gets the next.
      if (asked !== null && fromBinary(GetBatchRequestSchema, asked).pageToken !== '') {
        await tab.page.getByText(/Reading: [12],000 rows/).waitFor();
      }
      await route.continue();
    });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^coupons-of-batch-${id}-`));
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',')[0])).toEqual(Array.from({ length: 2_100 }, (_, n) => `B${id}-${n + 1}`));
  });

  it('The codes in the file of a batch are exact, and what a colleague made a formula of is none', async () => {
    const id = await insertBatch('Letters', 3);
    const codes = ['-4C3928MP', 'AB-12', '=1+1'];
    for (const [n, code] of codes.entries()) {
      await stage.coupon.database.sql(`update coupons set coupon_code = $1 where coupon_code = $2`, [
        code,
        `B${id}-${n + 1}`,
      ]);
    }
    tab = await stage.openTab({ path: `/coupons/batches/${id}` });
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',')[0])).toEqual(['-4C3928MP', 'AB-12', "'=1+1"]);
  });

  it('The file of the batches has plain numbers, and times that can be sorted', async () => {
    const id = await insertBatch('Letters', 1_200);
    await stage.coupon.database.sql(`update coupon_batches set created_at = '2026-01-02T05:00Z' where id = $1`, [id]);
    tab = await stage.openTab({ path: '/coupons/batches' });
    await tab.link('Letters').waitFor();
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    const [headings, line] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
    expect(headings).toMatch(/Codes,Invalidated,Created by,Created \(Asia\/Kolkata\)$/);
    expect(line).toMatch(/^Letters,1200,\d+,[^,]+,2026-01-02 10:30$/);
  });

  it('Codes don’t begin with a hyphen, which a spreadsheet takes for a formula', async () => {
    tab = await stage.openTab({ path: '/coupons/batches/new' });
    await tab.field('Codes begin with').fill('-A');
    await tab.button('Make the codes').click();
    await problemAt(
      tab,
      'Codes begin with',
      'Begin with a letter or a digit: a spreadsheet takes “-” for a formula.',
    ).waitFor();
    await tab.field('Codes begin with').fill('A-');
    await expect.poll(() => tab.page.getByText(/a spreadsheet takes/).count()).toBe(0);
  });

  it('A coupon of a batch leads to it, and the batch to the list of coupons, filtered', async () => {
    const id = await insertBatch('Letters', 2);
    await insertCoupon(stage.coupon);
    tab = await stage.openTab({ path: `/coupons?search=b${id}-2` });
    await tab.link(`B${id}-2`).click();
    await tab.link(`Batch ${id}`).click();
    await tab.link('Filter its coupons').click();
    await tab.heading('Coupons').waitFor();
    await expect.poll(async () => (await codes()).toSorted()).toEqual([`B${id}-1`, `B${id}-2`]);
  });

  it('“End the batch” invalidates what is still valid, once staff have confirmed it, and tells how many', async () => {
    const id = await insertBatch('Letters', 5);
    tab = await stage.openTab({ path: `/coupons/batches/${id}` });
    const left = async () => (await readCoupons(stage.coupon)).filter((coupon) => !coupon.is_invalidated).length;
    await tab.button('End the batch').click();
    await tab.page.getByText('4 codes will be invalidated.').waitFor();
    await tab.button('Keep it').click();
    expect(await left()).toBe(4);
    await tab.button('End the batch').click();
    await tab.button('End it').click();
    await tab.notice('Letters ended: 4 codes invalidated').waitFor();
    expect(await left()).toBe(0);
    await expect.poll(facts).toContain('Invalidated 5');
    await tab.button('End the batch').waitFor({ state: 'detached' });
    await tab.section('History').getByText(`ended batch of coupons ${id}`).waitFor();
    await tab.section('History').getByText('1 → became 5').waitFor();
    await tab.link('Audit trail').click();
    await tab.link(`batch of coupons ${id}`).first().click();
    await tab.heading('Letters').waitFor();
  });

  it('A batch that does not exist is told, and leads to all batches', async () => {
    tab = await stage.openTab({ path: '/coupons/batches/999' });
    await tab.page.getByText('Batch not found').waitFor();
    await tab.link('All batches').click();
    await tab.heading('Many codes').waitFor();
  });

  it('On a phone nothing of a batch is cut off', async () => {
    const id = await insertBatch('letters-'.repeat(16), 60);
    tab = await stage.openTab({ path: `/coupons/batches/${id}`, viewport: { width: 360, height: 740 } });
    await row(tab, `B${id}-1`).waitFor();
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
    await tab.page.goto(`${stage.origin}/coupons/batches`);
    await tab.link('letters-'.repeat(16)).waitFor();
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
  });
});
