import { afterEach, expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { colleague } from './clients.ts';
import { cellsOf, choose, deleteCoupons, insertCoupon, problemAt, readCoupons, row } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('Batches', (stage, tab) => {
  afterEach(async () => {
    await stage.sql('delete from redemptions; delete from coupon_usage');
    await deleteCoupons(stage.coupon);
    await stage.sql('delete from coupon_batches');
  });

  /** Makes a batch of coupons over 50, the first of which is invalidated. Returns its id. */
  async function insertBatch(name: string, count: number): Promise<number> {
    const [batch] = await stage.sql<{ id: number }>(
      `insert into coupon_batches (name, count, created_by, created_at) values ($1, $2, 2, '2026-01-02T05:00Z') returning id`,
      [name, count],
    );
    const id = batch?.id ?? 0;
    await stage.sql(
      `insert into coupons (batch_id, coupon_code, flat_discount, is_apply_for_all, created_by)
       select $1::integer, 'B' || $1::integer || '-' || n, 50, true, 2 from generate_series(1, $2::integer) n`,
      [id, count],
    );
    await stage.sql(`update coupons set is_invalidated = true where coupon_code = 'B${id}-1'`);
    return id;
  }
  const open = (path: string) => tab.open(`/coupons/batches${path}`);
  const make = () => tab.button('Create batch').click();
  const codes = () => tab.page.getByRole('rowheader').allInnerTexts();
  const facts = async () => {
    const texts = await tab.section('Batch').locator('dl > div').allInnerTexts();
    return texts.map((text) => text.replace(/\s+/g, ' ')).slice(0, 5);
  };

  it('Staff make many codes at once, with the terms of a coupon, for chosen users and products', async () => {
    await tab.open('/coupons');
    await tab.link('Batches').click();
    await tab.text('No batches yet.').waitFor();
    await tab.link('New batch').first().click();
    await tab.fill({ Name: 'Spring letters', 'Number of codes': '30' });
    await tab.field('Prefix').pressSequentially('spring-');
    await tab.field('Random characters').fill('12');
    await choose(tab, 'Customers', 'Selected customers');
    await tab.pick('Selected customers', 'User 2');
    await tab.fill({ 'Percent off': '10', 'Maximum discount': '150', 'Uses per customer': '1' });
    expect(await tab.field('Usage limit').inputValue()).toBe('1');
    await tab.pick('Products', 'Product 4');
    await tab.button('Create batch').dblclick();
    await tab.notice('30 codes created').waitFor();
    await tab.page.getByRole('heading', { name: 'Spring letters', level: 1 }).waitFor();
    await expect
      .poll(facts)
      .toEqual(['Used 0 of 30 codes', 'Discount given 0.00', 'Codes 30', 'Ended 0', 'Created by Asha Menon']);
    const coupons = await readCoupons(stage.coupon);
    expect(new Set(coupons.map((coupon) => coupon.coupon_code)).size).toBe(30);
    const terms = { discount_percent: '10', max_value: '150', max_limit_for_user: 1, max_uses: 1, is_user_based: true };
    const made = { ...terms, users: [2], products: [4], coupon_code: expect.stringMatching(/^SPRING-[A-Z2-9]{12}$/) };
    expect(coupons).toMatchObject(Array.from({ length: 30 }, () => made));
    const history = tab.section('History');
    await history.getByText(/created batch \d+/).waitFor();
    await history.getByText('Details').click();
    await history.getByText('Spring letters').waitFor();
  });

  it('What a batch can’t be is told at its field, and what looks like a mistake is asked about', async () => {
    await open('/new');
    await tab.fill({ 'Number of codes': '10001', Prefix: '-A', 'Random characters': '7' });
    await make();
    const formula = 'Start with a letter or digit. Spreadsheets read “-” as a formula.';
    await problemAt(tab, 'Number of codes', 'Enter 1 to 10,000.').waitFor();
    await problemAt(tab, 'Prefix', formula).waitFor();
    await problemAt(tab, 'Random characters', 'Enter 8 to 32.').waitFor();
    await problemAt(tab, 'Percent off', 'Enter a percentage, such as 10.').waitFor();
    await tab.fill({ 'Number of codes': '1', Prefix: 'AB-', 'Random characters': '8' });
    await tab.field('Percent off').fill('10');
    await choose(tab, 'Customers', 'Nobody yet');
    await make();
    const question = tab.page.getByRole('alertdialog', { name: 'Is this right?' });
    await question.getByText('Customers can’t use this coupon until').waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });

  it('Codes that everybody can use are asked about, also once each, and codes for one use in all are not', async () => {
    await open('/new');
    await tab.fill({ Name: 'Letters', 'Number of codes': '2', 'Percent off': '10', 'Uses per customer': '1' });
    await tab.field('Usage limit').fill('7');
    for (const uses of ['1', '']) {
      await tab.text('Each code works once').click();
      expect(await tab.field('Usage limit').inputValue()).toBe(uses);
    }
    await make();
    const question = tab.page.getByRole('alertdialog', { name: 'Is this right?' });
    await question.getByText('Anyone who learns a code can use it.').waitFor();
    await tab.click('Go back');
    await tab.text('Each code works once').click();
    await make();
    await tab.heading('Letters').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ max_uses: 1 }, { max_uses: 1 }]);
  });

  it('A batch’s page tells of each code whether it was used, and what it gave, also in the file', async () => {
    const id = await insertBatch('Letters', 3);
    await stage.sql(`update coupons set max_uses = 1`);
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    await orders.redeem({ code: `B${id}-2`, userId: 1, orderKey: 'o1', orderAmount: 250, holdSeconds: 0 });
    await open(`/${id}`);
    const figures = async (n: number) => (await row(tab, `B${id}-${n}`).getByRole('cell').allInnerTexts()).slice(0, 2);
    await expect.poll(() => figures(2)).toEqual(['1 of 1', '50.00']);
    expect(await figures(3)).toEqual(['0 of 1', '0.00']);
    await expect.poll(facts).toContain('Used 1 of 3 codes');
    await expect.poll(facts).toContain('Discount given 50.00');
    await tab.section('Terms').getByText('50 off, at most 1 use.').waitFor();
    const [headings, _first, second] = (await tab.savedCsv()).map(cellsOf);
    expect(headings?.slice(-4)).toEqual(['Usage limit', 'Used', 'Given', 'State']);
    expect(second?.slice(-4)).toEqual(['1', '1', '50', 'Used up']);
    for (const _ of ['ascending', 'descending'])
      await tab.page.getByRole('columnheader', { name: 'Used' }).getByRole('button').click();
    await expect.poll(async () => (await codes())[0]).toBe(`B${id}-2`);
  });

  it('The list of batches tells how many codes each has, and who made it, newest first, also in its file', async () => {
    await insertBatch('Letters', 3);
    const id = await insertBatch('', 1_200);
    await open('');
    await expect.poll(codes).toEqual([`Batch ${id}`, 'Letters']);
    const cells = (await row(tab, `Batch ${id}`).getByRole('cell').allInnerTexts()).slice(0, 3);
    expect(cells).toEqual(['1,200', '1', 'Ravi Iyer']);
    const [headings, first] = (await tab.savedCsv()).map(cellsOf);
    expect(headings?.slice(1)).toEqual(['Codes', 'Ended', 'Created by', 'Created (Asia/Kolkata)']);
    expect(first).toEqual([`Batch ${id}`, '1200', '1', 'Ravi Iyer', '2026-01-02 10:30']);
    await tab.field('Search by name').fill('letter');
    await expect.poll(codes).toEqual(['Letters']);
    await tab.link('Letters').click();
    await expect.poll(codes).toHaveLength(3);
  });

  it('A batch’s page lists its coupons page by page, finds one by its code, and saves all codes as they are', async () => {
    const id = await insertBatch('Letters', 2_100);
    await insertCoupon(stage.coupon);
    // Codes that were generated before 1.0, and one that a colleague has made a formula of.
    await stage.sql(`update coupons set coupon_code = '-4C3928MP' where coupon_code = 'B${id}-2'`);
    await stage.sql(`update coupons set coupon_code = '=1+1' where coupon_code = 'B${id}-3'`);
    await open(`/${id}`);
    await row(tab, `B${id}-1`).getByText('Ended').waitFor();
    const rows = tab.page.getByRole('rowheader');
    await rows.last().scrollIntoViewIfNeeded();
    await expect.poll(() => rows.count()).toBeGreaterThan(50);
    const saved = (await tab.savedCsv()).slice(1).map((line) => cellsOf(line)[0]);
    const others = Array.from({ length: 2_097 }, (_, n) => `B${id}-${n + 4}`);
    expect(saved).toEqual([`B${id}-1`, '-4C3928MP', `'=1+1`, ...others]);
    await tab.field('Search by code').fill(`b${id}-2100`);
    await expect.poll(codes).toEqual([`B${id}-2100`]);
  });

  it('A coupon of a batch leads to it, and the batch to the list of coupons, filtered', async () => {
    const id = await insertBatch('Letters', 2);
    await insertCoupon(stage.coupon);
    await tab.open(`/coupons?search=b${id}-2`);
    await tab.link(`B${id}-2`).click();
    await tab.link('Letters').click();
    await tab.follow('Show in the list of coupons', 'Coupons');
    await expect.poll(async () => (await codes()).toSorted()).toEqual([`B${id}-1`, `B${id}-2`]);
  });

  it('“End batch” invalidates what is still valid, once staff have confirmed it, and tells how many', async () => {
    const id = await insertBatch('Letters', 5);
    await open(`/${id}`);
    const left = async () => (await readCoupons(stage.coupon)).filter((coupon) => !coupon.is_invalidated).length;
    await tab.click('End batch', tab.text('Customers can’t use 4 codes any more.'));
    await tab.click('Go back');
    expect(await left()).toBe(4);
    await tab.click('End batch');
    await tab.click('End batch anyway');
    await tab.notice('Letters ended: 4 codes invalidated').waitFor();
    expect(await left()).toBe(0);
    await expect.poll(facts).toContain('Ended 5');
    await tab.button('End batch').waitFor({ state: 'detached' });
    await tab.section('History').getByText(`ended batch ${id}`).waitFor();
    await tab.section('History').getByText('1 → became 5').waitFor();
    await tab.link('Activity').click();
    await tab.link(`batch ${id}`).first().click();
    await tab.heading('Letters').waitFor();
  });
});
