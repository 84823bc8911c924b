import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { describeInBrowser } from '../browser.ts';
import { alterAnswer } from './altered-answer.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, readCoupons, row } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

// As in the page's ui/use-debounced.ts.
const pauseMs = 250;
/** Ends the pause after typing as soon as something else has changed the address: the closest that the two can come. */
const pauseEndsWithNextAddress = `
  const { setTimeout } = globalThis;
  const { pushState } = history;
  let held = () => {};
  globalThis.setTimeout = (run, ms, ...rest) => (ms === ${pauseMs} ? void (held = run) : setTimeout(run, ms, ...rest));
  history.pushState = (...address) => {
    pushState.apply(history, address);
    setTimeout(held);
    held = () => {};
  };
`;

describeInBrowser('A list of coupons that is filtered, sorted and saved', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  const sql = (text: string) => stage.coupon.database.sql(text);

  /** Inserts coupons, the first one the latest. */
  const insertMany = (count: number) =>
    sql(
      `insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by, created_at)
       select 'MANY' || n, 10, true, 1, now() - n * interval '1 minute' from generate_series(1, ${count}) n`,
    );
  /** Inserts reserved coupons over 50, of which the first has been redeemed, and the second has ended. */
  const insertReserved = (count: number) =>
    sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by, valid_till, created_at)
       select 'HUSH' || n, 'CODE', 50, 1, case when n = 1 then 2 end, case when n = 2 then timestamptz '2020-01-01' end,
         now() - (${count} - n) * interval '1 minute'
       from generate_series(1, ${count}) n`,
    );
  const insertEnding = (code: string, inDays: number) =>
    insertCoupon(stage.coupon, { coupon_code: code, valid_till: new Date(Date.now() + inDays * 86_400_000) });
  const giveTo = (user: number, coupon: number) =>
    sql(
      `update coupons set is_apply_for_all = false, is_user_based = true where id = ${coupon};
       insert into coupon_applicable_users (coupon_id, user_id) values (${coupon}, ${user})`,
    );

  const codes = () => tab.page.getByRole('rowheader').allInnerTexts();
  const heading = (title: string) => tab.page.getByRole('columnheader', { name: title });
  const sortBy = (title: string) => heading(title).getByRole('button').click();
  const query = () => Object.fromEntries(new URL(tab.page.url()).searchParams);

  async function filter(label: string, option: string): Promise<void> {
    await tab.page.locator('.field', { hasText: label }).getByRole('button').click();
    await tab.page.getByRole('option', { name: option, exact: true }).click();
  }

  /** The CSV file that is saved: its headings, and then its lines. */
  async function savedFile(): Promise<string[]> {
    const [download] = await Promise.all([tab.page.waitForEvent('download'), tab.button('Save as CSV').click()]);
    return (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  }

  /** The lines of the CSV file that is saved, without its headings. */
  const saved = async () => (await savedFile()).slice(1);

  /**
   * Lets a number of further requests for coupons pass, and holds the others until they are released. Returns the
   * requests so far, and their release.
   */
  async function holdAfter(passing: number) {
    const asked: string[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await tab.page.route(/CouponService\/GetAll/, async (route) => {
      if (route.request().method() !== 'OPTIONS') {
        asked.push(route.request().url());
        if (asked.length > passing) await released;
      }
      await route.continue();
    });
    return { asked, release };
  }

  it('The filter by state finds what lies beyond the first pages', async () => {
    await insertMany(1_200);
    await sql(`update coupons set is_invalidated = true where coupon_code = 'MANY1200'`);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    await filter('State', 'Invalidated');
    await expect.poll(codes).toEqual(['MANY1200']);
  });

  it('The filter by batch lists the coupons of a batch, which is chosen by its name', async () => {
    await insertMany(2);
    const [batch] = await stage.coupon.database.sql<{ id: number }>(
      `insert into coupon_batches (name, count, created_by) values ('Spring letters', 2, 1) returning id`,
    );
    for (const code of ['LETTER1', 'LETTER2']) {
      await insertCoupon(stage.coupon, { coupon_code: code, batch_id: batch?.id, is_invalidated: code === 'LETTER1' });
    }
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    await filter('Batch', 'Spring letters');
    await expect.poll(codes).toEqual(['LETTER2', 'LETTER1']);
    expect(query()).toEqual({ batch: String(batch?.id) });
    await filter('State', 'Valid');
    await expect.poll(codes).toEqual(['LETTER2']);
  });

  it('The filter by end finds what ends within a week, and neither what has ended nor what never does', async () => {
    for (const days of [-1, 2, 5, 8]) await insertEnding(`IN${days}`, days);
    await insertCoupon(stage.coupon, { coupon_code: 'NEVER' });
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'NEVER').waitFor();
    await filter('Ends', 'Within a week');
    await expect.poll(codes).toEqual(['IN5', 'IN2']);
    await filter('Ends', 'Never');
    await expect.poll(codes).toEqual(['NEVER']);
  });

  it('The filter by user is chosen by name in a dialog, and taken away there', async () => {
    await insertMany(60);
    await giveTo(4, await insertCoupon(stage.coupon));
    tab = await stage.openTab({ path: '/coupons' });
    await tab.button('User: any').click();
    await tab.page.getByRole('dialog', { name: 'Choose: user' }).waitFor();
    await tab.pick('User', 'User 4');
    await expect.poll(codes).toEqual(['SAVE10']);
    expect(query()).toEqual({ user: '4' });
    await tab.button('User: User 4').click();
    await tab.button('Any').click();
    await expect.poll(codes).toContain('MANY1');
    expect(query()).toEqual({});
  });

  it('A heading sorts all coupons, those of further pages included: one way, the other, then as at first', async () => {
    await insertMany(1_200);
    await sql(`update coupons set min_order = 5 where coupon_code = 'MANY1100'`);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    await sortBy('Smallest order');
    await expect.poll(() => heading('Smallest order').getAttribute('aria-sort')).toBe('ascending');
    await sortBy('Smallest order');
    await expect.poll(async () => (await codes())[0]).toBe('MANY1100');
    expect(await heading('Smallest order').getAttribute('aria-sort')).toBe('descending');
    expect(query()).toEqual({ sort: '-Smallest order' });
    await sortBy('Smallest order');
    await expect.poll(async () => (await codes())[0]).toBe('MANY1');
    expect(query()).toEqual({});
  });

  it('Numbers in codes are sorted by their value, and ends by their time', async () => {
    for (const days of [10, 9, 2]) await insertEnding(`IN${days}`, days);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'IN2').waitFor();
    await sortBy('Code');
    await expect.poll(codes).toEqual(['IN2', 'IN9', 'IN10']);
    await sortBy('Valid until');
    await sortBy('Valid until');
    await expect.poll(codes).toEqual(['IN10', 'IN9', 'IN2']);
  });

  it('All filters and the order stand in the address, and survive a reload and the way back', async () => {
    for (const [code, days] of [
      ['B', 5],
      ['A', 2],
      ['C', 20],
    ] as const)
      await giveTo(4, await insertEnding(code, days));
    await insertEnding('OTHERS', 3);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'OTHERS').waitFor();
    await filter('State', 'Valid');
    await filter('Ends', 'Within a week');
    await tab.button('User: any').click();
    await tab.pick('User', 'User 4');
    await sortBy('Code');
    const chosen = { state: 'Valid', ends: '7', user: '4', sort: 'Code' };
    await expect.poll(codes).toEqual(['A', 'B']);
    expect(query()).toEqual(chosen);
    await tab.page.reload();
    await expect.poll(codes).toEqual(['A', 'B']);
    await tab.button('User: User 4').waitFor();
    await tab.link('B').click();
    await tab.heading('Coupon B').waitFor();
    await tab.page.goBack();
    await expect.poll(codes).toEqual(['A', 'B']);
    expect(query()).toEqual(chosen);
  });

  it('The way back takes the filters back one by one, and then leaves the list', async () => {
    for (const code of ['OLD1', 'NEW1', 'NEW2']) await insertCoupon(stage.coupon, { coupon_code: code });
    tab = await stage.openTab({ path: '/users' });
    await tab.link('Coupons').click();
    await tab.field('Search by code').fill('NEW');
    await expect.poll(codes).toEqual(['NEW2', 'NEW1']);
    await sortBy('Code');
    await expect.poll(codes).toEqual(['NEW1', 'NEW2']);
    await filter('State', 'Expired');
    await expect.poll(codes).toEqual([]);
    await tab.page.goBack();
    await expect.poll(codes).toEqual(['NEW1', 'NEW2']);
    await tab.page.goBack();
    await expect.poll(codes).toEqual(['NEW2', 'NEW1']);
    expect(await tab.field('Search by code').inputValue()).toBe('NEW');
    await tab.page.goBack();
    await tab.heading('Users').waitFor();
    await tab.page.goForward();
    await expect.poll(codes).toEqual(['NEW2', 'NEW1']);
    expect(await tab.field('Search by code').inputValue()).toBe('NEW');
  });

  it('A heading that is pressed right after a search was typed keeps its order', async () => {
    for (const code of ['IN2', 'OTHER', 'IN9', 'IN10']) await insertCoupon(stage.coupon, { coupon_code: code });
    tab = await stage.openTab({ path: '/coupons', initScript: pauseEndsWithNextAddress });
    await row(tab, 'IN2').waitFor();
    await tab.field('Search by code').fill('in');
    await sortBy('Code');
    await expect.poll(query).toHaveProperty('search', 'in');
    expect(query()).toEqual({ search: 'in', sort: 'Code' });
    await expect.poll(codes).toEqual(['IN2', 'IN9', 'IN10']);
  });

  it('While the rest is looked through, the page says how many were, and shows what it has found', async () => {
    await insertMany(2_200);
    await sql(`update coupons set is_invalidated = true where coupon_code in ('MANY900', 'MANY2200')`);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    const { release } = await holdAfter(1);
    await filter('State', 'Invalidated');
    await tab.page.getByText('1,000 looked through…').waitFor();
    expect(await codes()).toEqual(['MANY900']);
    release();
    await expect.poll(codes).toEqual(['MANY900', 'MANY2200']);
    expect(await tab.page.getByText('looked through').count()).toBe(0);
  });

  it('Staff can stop the look through the rest, and go on with it', async () => {
    await insertMany(4_200);
    await sql(`update coupons set is_invalidated = true where coupon_code in ('MANY900', 'MANY4200')`);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    const { asked, release } = await holdAfter(1);
    await filter('State', 'Invalidated');
    await tab.page.getByText('1,000 looked through…').waitFor();
    await tab.button('Stop').click();
    release();
    await tab.button('Show more').waitFor();
    await endSeen(tab);
    expect(await tab.page.getByText('looked through').count()).toBe(0);
    expect(asked).toHaveLength(2);
    expect(await codes()).toEqual(['MANY900']);
    await tab.button('Show more').click();
    await expect.poll(codes).toEqual(['MANY900', 'MANY4200']);
  });

  it('A CSV file has all coupons once, across pages', async () => {
    await insertMany(2_300);
    tab = await stage.openTab({ path: '/coupons' });
    const lines = await saved();
    const expected = Array.from({ length: 2_300 }, (_, n) => `MANY${n + 1}`);
    expect(lines.map((line) => line.split(',')[0])).toEqual(expected);
  });

  it('A CSV file has only what the search and the filters leave', async () => {
    await insertMany(60);
    await sql(`update coupons set is_invalidated = true where coupon_code like 'MANY5_' or coupon_code = 'MANY7'`);
    tab = await stage.openTab({ path: '/coupons?state=Invalidated&search=MANY5' });
    await row(tab, 'MANY50').waitFor();
    const expected = Array.from({ length: 10 }, (_, n) => `MANY5${n}`);
    expect((await saved()).map((line) => line.split(',')[0])).toEqual(expected);
  });

  it('A CSV file has the order of the list', async () => {
    for (const code of ['C10', 'C9', 'C11']) await insertCoupon(stage.coupon, { coupon_code: code });
    tab = await stage.openTab({ path: '/coupons?sort=-Code' });
    await expect.poll(codes).toEqual(['C11', 'C10', 'C9']);
    expect((await saved()).map((line) => line.split(',')[0])).toEqual(['C11', 'C10', 'C9']);
  });

  it('In a CSV file no code is a formula', async () => {
    for (const code of ['=1+1', '+1', '-1', '@A1']) await insertCoupon(stage.coupon, { coupon_code: code });
    tab = await stage.openTab({ path: '/coupons' });
    const cells = (await saved()).map((line) => line.split(',')[0]);
    expect(cells).toEqual(["'@A1", "'-1", "'+1", "'=1+1"]);
  });

  it('In a CSV file commas and quotes are quoted', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'A,"B"' });
    tab = await stage.openTab({ path: '/coupons' });
    expect(await saved()).toEqual([expect.stringMatching(/^"A,""B""",10,/)]);
  });

  it('A CSV file that takes long says how far it has come, and can be stopped', async () => {
    await insertMany(1_200);
    tab = await stage.openTab({ path: '/coupons' });
    await row(tab, 'MANY1').waitFor();
    const files: string[] = [];
    tab.page.on('download', (download) => files.push(download.suggestedFilename()));
    const { asked, release } = await holdAfter(1);
    await tab.button('Save as CSV').click();
    await tab.page.getByText('Reading: 1,000 rows').waitFor();
    await tab.button('Stop').click();
    await tab.button('Save as CSV').waitFor();
    release();
    expect(asked).toHaveLength(2);
    // The file of a second attempt is the only one.
    expect(await saved()).toHaveLength(1_200);
    expect(files).toHaveLength(1);
  });

  it('The reserved coupons are filtered by their state, beyond the first page, too', async () => {
    await insertReserved(60);
    tab = await stage.openTab({ path: '/coupons/reserved' });
    await row(tab, 'HUSH60').waitFor();
    await filter('State', 'Redeemed');
    await expect.poll(codes).toEqual(['HUSH1']);
    expect(query()).toEqual({ state: 'Redeemed' });
    await filter('State', 'Expired');
    await expect.poll(codes).toEqual(['HUSH2']);
    await filter('State', 'Not redeemed');
    await expect.poll(async () => (await codes()).length).toBe(58);
  });

  it('The reserved coupons are saved as a CSV file as they are filtered', async () => {
    await insertReserved(1_200);
    tab = await stage.openTab({ path: '/coupons/reserved?state=Valid' });
    await row(tab, 'HUSH1200').waitFor();
    const expected = Array.from({ length: 1_198 }, (_, n) => `HUSH${1_200 - n},CODE,,50`);
    expect((await saved()).map((line) => line.split(',').slice(0, 4).join(','))).toEqual(expected);
  });

  it('A CSV file has times that can be sorted, with their zone in the heading, amounts as numbers, and people apart', async () => {
    await insertCoupon(stage.coupon, {
      ...{ flat_discount: 50.5, discount_percent: null, max_value: 1_200, min_order: 5_000 },
      ...{ valid_till: '2099-01-02T05:00:30Z', created_at: '2026-01-02T05:00:30Z' },
    });
    tab = await stage.openTab({ path: '/coupons' });
    expect((await savedFile()).map((line) => line.replace('\ufeff', ''))).toEqual([
      'Code,Percent off,Amount off,Largest discount,Smallest order,Valid until (Asia/Kolkata),For whom,State,Created (Asia/Kolkata),Created by',
      'SAVE10,,50.5,1200,5000,2099-01-02 10:30,Everyone,Valid,2026-01-02 10:30,Asha Menon',
    ]);
  });

  it('A CSV file of the reserved coupons has who redeemed each, and the mobile number, apart', async () => {
    await sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by) values ('HUSH', 'X', 5, 1, 2)`,
    );
    tab = await stage.openTab({ path: '/coupons/reserved' });
    const [headings, line] = await savedFile();
    expect(headings).toContain(',Redeemed by,Mobile number,State,');
    expect(line).toContain(',User 2,9000000002,Redeemed,');
  });

  it('Users who were deleted do not count among those that a coupon is for', async () => {
    for (const [code, user] of [
      ['GONE', 2],
      ['KEPT', 3],
    ] as const) {
      const id = await insertCoupon(stage.coupon, { coupon_code: code, is_apply_for_all: false, is_user_based: true });
      await giveTo(user, id);
    }
    tab = await stage.openTab({ path: '/users' });
    await alterAnswer(tab, CouponService.method.getAll, ({ coupons }) => {
      for (const link of coupons.flatMap(({ applicableUsers }) => applicableUsers)) {
        if (link.userId === 2) link.user = undefined;
      }
    });
    await tab.link('Coupons').click();
    await row(tab, 'GONE').getByText('Nobody').waitFor();
    await row(tab, 'KEPT').getByText('1 user').waitFor();
  });

  it('A coupon is duplicated with its terms and users, without its code, as a second one', async () => {
    const id = await insertCoupon(stage.coupon, { min_order: 500, max_value: 150, max_limit_for_user: 2 });
    await giveTo(2, id);
    await sql(`insert into coupon_applicable_products (coupon_id, product_id) values (${id}, 7)`);
    tab = await stage.openTab({ path: `/coupons/${id}` });
    await tab.link('Duplicate').click();
    await tab.heading('New coupon, as SAVE10').waitFor();
    expect(await tab.field('Code').inputValue()).toBe('');
    expect(await tab.field('Percent off').inputValue()).toBe('10');
    await tab.button('Remove User 2').waitFor();
    await tab.button('Create coupon').click();
    await tab.heading(/^Coupon DC/).waitFor();
    const terms = { discount_percent: '10', min_order: '500', max_value: '150', max_limit_for_user: 2 };
    const [first, second, ...others] = await readCoupons(stage.coupon);
    expect(first).toMatchObject({ coupon_code: 'SAVE10', ...terms, users: [2], products: [7] });
    expect(second).toMatchObject({ ...terms, is_user_based: true, users: [2], products: [7] });
    expect(others).toEqual([]);
  });
});

/** Resolves once the page has been told that the end of the list is in sight, and has drawn what it makes of that. */
async function endSeen({ page }: ConsoleTab): Promise<void> {
  await page.evaluate(
    `new Promise((drawn) => {
      const draw = () => requestAnimationFrame(() => requestAnimationFrame(drawn));
      new IntersectionObserver(draw).observe(document.querySelector('main table').lastElementChild);
    })`,
  );
}
