import { afterEach, expect, it } from 'vitest';
import { CouponService } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { alterAnswer } from './altered-answer.ts';
import { colleague } from './clients.ts';
import type { ConsoleTab } from './console-tab.ts';
import { cellsOf, chooseMore, deleteCoupons, insertCoupon, readCoupons, row } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

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

describeConsole('The lists of coupons', (stage, tab) => {
  afterEach(async () => {
    await stage.sql('delete from redemptions; delete from coupon_usage');
    await deleteCoupons(stage.coupon);
    await stage.sql('delete from coupon_batches');
  });

  const sql = (text: string) => stage.sql(text);
  /** Inserts coupons, the first one the latest. */
  const insertMany = (count: number) =>
    sql(
      `insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by, created_at)
       select 'MANY' || n, 10, true, 1, now() - n * interval '1 minute' from generate_series(1, ${count}) n`,
    );
  const insertEnding = (code: string, inDays: number) =>
    insertCoupon(stage.coupon, { coupon_code: code, valid_till: new Date(Date.now() + inDays * 86_400_000) });
  const giveTo = (user: number, coupon: number) =>
    sql(
      `update coupons set is_apply_for_all = false, is_user_based = true where id = ${coupon};
       insert into coupon_applicable_users (coupon_id, user_id) values (${coupon}, ${user})`,
    );
  const codes = () => tab.page.getByRole('rowheader').allInnerTexts();
  /** The cells of a coupon's row, but for the box that selects it. */
  const cellsIn = async (code: string) => (await row(tab, code).getByRole('cell').allInnerTexts()).slice(1);
  const select = async (...names: readonly string[]) => {
    for (const code of names) await tab.page.getByRole('checkbox', { name: `Select ${code}`, exact: true }).click();
  };
  const heading = (title: string) => tab.page.getByRole('columnheader', { name: title });
  const sortBy = (title: string) => heading(title).getByRole('button').click();
  const query = () => Object.fromEntries(new URL(tab.page.url()).searchParams);
  const filter = (label: string, option: string) =>
    tab.select(tab.page.locator('.field', { hasText: label }).getByRole('button'), option);
  /** The codes in the CSV file that is saved. */
  const savedCodes = async () => (await tab.savedCsv()).slice(1).map((line) => cellsOf(line)[0]);

  /** Lets the next request for coupons pass, and holds the others until they are released. */
  async function holdAfterNext() {
    const asked: string[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await tab.page.route(/CouponService\/GetAll/, async (route) => {
      if (route.request().method() !== 'OPTIONS' && asked.push(route.request().url()) > 1) await released;
      await route.continue();
    });
    return { asked, release };
  }

  it('Each coupon tells what it gives, from which amount, until when, to whom who still exists, and whether it can be used', async () => {
    const terms = { max_value: 150, min_order: 500, valid_till: '2099-01-02T05:00:00Z' };
    const id = await insertCoupon(stage.coupon, { coupon_code: 'CHOSEN', ...terms });
    await giveTo(1, id);
    await giveTo(2, id);
    await insertCoupon(stage.coupon, { coupon_code: 'OVER', valid_till: '2001-01-01T00:00:00Z' });
    await insertCoupon(stage.coupon, { coupon_code: 'AHEAD', starts_at: '2098-01-02T05:00:00Z' });
    await insertCoupon(stage.coupon, {
      coupon_code: 'SPAN',
      starts_at: '2001-01-01',
      valid_till: '2099-01-02T05:00:00Z',
    });
    const amount = { discount_percent: null, flat_discount: 150, is_invalidated: true };
    await giveTo(2, await insertCoupon(stage.coupon, { coupon_code: 'GONE', ...amount }));
    await tab.open('/users');
    await alterAnswer(tab, CouponService.method.getAll, ({ coupons }) => {
      for (const link of coupons.flatMap(({ applicableUsers }) => applicableUsers)) {
        if (link.userId === 2) link.user = undefined;
      }
    });
    await tab.link('Coupons').click();
    const cells = async (code: string) => (await cellsIn(code)).toSpliced(4, 2).slice(0, 5);
    await row(tab, 'CHOSEN').waitFor();
    const shown = ['CHOSEN', 'OVER', 'AHEAD', 'SPAN', 'GONE'].map(cells);
    expect(await Promise.all(shown)).toEqual([
      ['10% up to 150', '500', '1 customer', 'Fri 2 Jan 2099, 10:30', 'Active'],
      ['10%', 'Any order', 'Everyone', 'Mon 1 Jan 2001, 05:30', 'Expired'],
      ['10%', 'Any order', 'Everyone', 'No end date', 'Scheduled'],
      ['10%', 'Any order', 'Everyone', 'Fri 2 Jan 2099, 10:30', 'Active'],
      ['150', 'Any order', 'Nobody', 'No end date', 'Ended'],
    ]);
    await tab.page.getByTitle('From Thu 2 Jan 2098, 10:30', { exact: true }).waitFor();
    await tab.follow('CHOSEN', 'Coupon CHOSEN');
  });

  /** Lets a coupon be used, each time for an order of 250. */
  async function use(code: string, times: number): Promise<void> {
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    for (let n = 0; n < times; n += 1)
      await orders.redeem({ code, userId: 1, orderKey: `${code}-${n}`, orderAmount: 250, holdSeconds: 0 });
  }

  it('Each coupon tells how often it was used and what it gave, also in the file, and the list is sorted by that', async () => {
    for (const [code, max_uses] of Object.entries({ NONE: null, ONCE: 500, TWICE: null }))
      await insertCoupon(stage.coupon, { coupon_code: code, max_uses });
    await use('ONCE', 1);
    await use('TWICE', 2);
    await tab.open('/coupons');
    const figures = async () =>
      Promise.all(['NONE', 'ONCE', 'TWICE'].map(async (code) => (await cellsIn(code)).slice(4, 6)));
    await expect.poll(figures).toEqual([
      ['0', '0.00'],
      ['1 of 500', '25.00'],
      ['2', '50.00'],
    ]);
    await sortBy('Given');
    await sortBy('Given');
    await expect.poll(codes).toEqual(['TWICE', 'ONCE', 'NONE']);
    const lines = (await tab.savedCsv()).map(cellsOf);
    const at = ['Usage limit', 'Used', 'Given'].map((title) => lines[0]?.indexOf(title) ?? -1);
    expect(lines.slice(1).map((line) => at.map((column) => line[column]))).toEqual([
      ['', '2', '50'],
      ['500', '1', '25'],
      ['', '0', '0'],
    ]);
  });

  it('The usage of a page of coupons is one call, and its rows are there before the figures', async () => {
    await insertMany(1_200);
    await tab.open('/users');
    let calls = 0;
    tab.page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/GetUsage')) calls += 1;
    });
    const release = await tab.hold(/RedemptionService\/GetUsage/);
    await tab.link('Coupons').click();
    await expect.poll(async () => (await cellsIn('MANY1'))[4]).toBe('…');
    release();
    await expect.poll(async () => (await cellsIn('MANY1'))[4]).toBe('0');
    expect(calls).toBe(1);
    // A file has the figures of coupons that are not on show, too: two pages of them.
    await use('MANY1100', 1);
    const lines = await tab.savedCsv();
    expect(lines.find((line) => line.startsWith('"MANY1100",'))).toContain('"1","25","Active"');
    expect(calls).toBe(3);
    await sortBy('Used');
    await sortBy('Used');
    await expect.poll(async () => (await codes())[0]).toBe('MANY1100');
    expect(calls).toBeLessThanOrEqual(5);
  });

  it('A part of the list that is refused is asked for again only when staff say so', async () => {
    await insertMany(60);
    await tab.open('/coupons');
    await row(tab, 'MANY1').waitFor();
    let asked = 0;
    await tab.page.route(/CouponService\/GetAll/, (route) => {
      asked += 1;
      return route.fulfill({ status: 500, headers: { 'access-control-allow-origin': '*' } });
    });
    await tab.page.getByRole('rowheader').last().scrollIntoViewIfNeeded();
    await tab.text('Something went wrong').waitFor();
    await tab.follow('Check a coupon', 'Check a coupon');
    expect(asked).toBe(1);
  });

  it('A search as staff type keeps the focus, shows what was typed last, stands in the address, and ends by the link of the list', async () => {
    await insertMany(30);
    await tab.open('/coupons');
    const field = tab.field('Search by code');
    await field.pressSequentially('many1');
    await field.pressSequentially('2');
    await expect.poll(codes).toEqual(['MANY12']);
    expect(query()).toEqual({ search: 'many12' });
    await tab.press('Backspace');
    await expect.poll(codes).toHaveLength(11);
    await tab.page.reload();
    await expect.poll(codes).toHaveLength(11);
    expect(await field.inputValue()).toBe('many1');
    await field.fill('none such');
    await tab.text('No coupons found.').waitFor();
    await tab.page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Coupons' }).click();
    await expect.poll(codes).toHaveLength(30);
    expect(await field.inputValue()).toBe('');
    await tab.page.goBack();
    await expect.poll(() => field.inputValue()).toBe('none such');
  });

  it('A batch, chosen by its name, and an end filter the list', async () => {
    for (const days of [-1, 2, 5, 8]) await insertEnding(`IN${days}`, days);
    await sql(`insert into coupon_batches (id, name, count, created_by) values (7, 'Spring letters', 1, 1)`);
    await insertCoupon(stage.coupon, { coupon_code: 'LETTER', batch_id: 7 });
    await insertCoupon(stage.coupon, { coupon_code: 'ENDLESS' });
    await tab.open('/coupons');
    await row(tab, 'ENDLESS').waitFor();
    await filter('Ends', 'Within a week');
    await expect.poll(codes).toEqual(['IN5', 'IN2']);
    await filter('Ends', 'Never');
    await expect.poll(codes).toEqual(['ENDLESS']);
    await filter('Ends', 'Any time');
    await filter('Batch', 'Spring letters');
    await expect.poll(codes).toEqual(['LETTER']);
    expect(query()).toEqual({ batch: '7' });
  });

  it('The filter by user is chosen by name in a dialog, and taken away there', async () => {
    await insertMany(60);
    await giveTo(4, await insertCoupon(stage.coupon));
    await tab.open('/coupons');
    await tab.click('Customer: any', tab.page.getByRole('dialog', { name: 'Choose a customer' }));
    await tab.pick('Customer', 'User 4');
    await expect.poll(codes).toEqual(['SAVE10']);
    expect(query()).toEqual({ user: '4' });
    await tab.click('Customer: User 4');
    await tab.click('Any');
    await expect.poll(codes).toContain('MANY1');
    expect(query()).toEqual({});
  });

  it('A coupon whose uses are all taken is used up, and found by that state', async () => {
    for (const [code, max_uses] of Object.entries({ FREE: 2, GONE: 1 }))
      await insertCoupon(stage.coupon, { coupon_code: code, max_uses });
    await use('FREE', 1);
    await use('GONE', 1);
    await tab.open('/coupons');
    await row(tab, 'GONE').getByText('Used up').waitFor();
    await row(tab, 'FREE').getByText('Active').waitFor();
    await filter('State', 'Used up');
    await expect.poll(codes).toEqual(['GONE']);
    await filter('State', 'Active');
    await expect.poll(codes).toEqual(['FREE']);
  });

  it('A usage that can’t be read is told in words, and read again at a press', async () => {
    await insertCoupon(stage.coupon);
    await tab.open('/check');
    await tab.failAt(/RedemptionService\/GetUsage/);
    await tab.link('Coupons').click();
    await tab.text('Couldn’t load usage of these coupons').waitFor();
    expect((await cellsIn('SAVE10')).slice(4, 6)).toEqual(['Not available', 'Not available']);
    await tab.page.unrouteAll({ behavior: 'wait' });
    await tab.click('Try again');
    await expect.poll(async () => (await cellsIn('SAVE10')).slice(4, 6)).toEqual(['0', '0.00']);
  });

  it('The codes of a batch are one row above the list, which tells how many were used and opens on them; a search finds each', async () => {
    await sql(`insert into coupon_batches (id, name, count, created_by) values (7, 'Spring letters', 2, 1)`);
    for (const code of ['LETTER1', 'LETTER2']) await insertCoupon(stage.coupon, { coupon_code: code, batch_id: 7 });
    await insertCoupon(stage.coupon);
    await use('LETTER2', 1);
    await tab.open('/coupons');
    await row(tab, 'SAVE10').waitFor();
    expect(await codes()).toEqual(['SAVE10']);
    const fold = tab.page.getByRole('region', { name: 'Batches' });
    await fold.getByText(/^Spring letters · 2 codes · 1 used · /).click();
    await fold.getByRole('rowheader', { name: 'LETTER2' }).waitFor();
    await fold.getByRole('link', { name: 'Open batch' }).click();
    await tab.heading('Spring letters').waitFor();
    await tab.page.goBack();
    await tab.field('Search by code').first().fill('letter1');
    await expect.poll(codes).toEqual(['LETTER1']);
    expect(await fold.count()).toBe(0);
  });

  it('Selected coupons are invalidated one by one, which is told and undone; those that had ended before stay so', async () => {
    for (const code of ['A', 'B', 'C']) await insertCoupon(stage.coupon, { coupon_code: code });
    await insertCoupon(stage.coupon, { coupon_code: 'OVER', is_invalidated: true });
    const ended = async () =>
      (await readCoupons(stage.coupon)).filter((each) => each.is_invalidated).map((each) => each.coupon_code);
    await tab.open('/coupons');
    await row(tab, 'A').waitFor();
    await select('A', 'B', 'OVER');
    await tab.text('3 selected').waitFor();
    await tab.click('Invalidate', tab.text('Customers can’t use 2 coupons any more.'));
    expect(await ended()).toEqual(['OVER']);
    await tab.click('Invalidate anyway', tab.notice('2 coupons invalidated'));
    expect(await ended()).toEqual(['A', 'B', 'OVER']);
    await tab.notice('2 coupons invalidated').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(ended).toEqual(['OVER']);
  });

  it('Several coupons that had ended are reactivated at once, and undo ends them again', async () => {
    for (const code of ['A', 'B']) await insertCoupon(stage.coupon, { coupon_code: code, is_invalidated: true });
    await insertCoupon(stage.coupon, { coupon_code: 'C' });
    const ended = async () => (await readCoupons(stage.coupon)).filter((each) => each.is_invalidated).length;
    await tab.open('/coupons');
    await row(tab, 'C').waitFor();
    await select('A', 'B', 'C');
    await tab.click('Reactivate', tab.notice('2 coupons reactivated'));
    expect(await ended()).toBe(0);
    await tab.notice('2 coupons reactivated').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(ended).toBe(2);
  });

  it('Selected coupons get a new end, and by undo each its own again; one that a colleague has changed is told, and stays selected', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'A', valid_till: '2090-01-02T05:00Z' });
    for (const code of ['B', 'C']) await insertCoupon(stage.coupon, { coupon_code: code });
    const ends = async () => (await readCoupons(stage.coupon)).map(({ valid_till }) => valid_till);
    const [was, other] = [new Date('2090-01-02T05:00Z'), new Date('2089-01-02T05:00Z')];
    await tab.open('/coupons');
    await row(tab, 'C').waitFor();
    await sql(`update coupons set etag = next_etag() where coupon_code = 'C'`);
    await select('A', 'B', 'C');
    await tab.click('Extend…');
    await tab.time('New end').fill('2089-01-02T10:30');
    await tab.click('Extend');
    await tab.text('3 coupons would end earlier than before.').first().waitFor();
    expect(await ends()).toEqual([was, null, null]);
    await tab.click('Extend anyway', tab.notice('2 coupons extended'));
    await tab.notice(/^1 coupon not changed\. C: /).waitFor();
    await tab.text('1 selected').waitFor();
    expect(await ends()).toEqual([other, other, null]);
    await tab.notice('2 coupons extended').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(ends).toEqual([was, null, null]);
  });

  it('While several coupons are changed, and while that is undone, a closing tab asks; a page that is left goes on', async () => {
    for (const code of ['A', 'B']) await insertCoupon(stage.coupon, { coupon_code: code });
    const ends = async () => (await readCoupons(stage.coupon)).map(({ valid_till }) => valid_till === null);
    const asks = () => tab.page.evaluate<boolean>(`!dispatchEvent(new Event('beforeunload', { cancelable: true }))`);
    await tab.open('/coupons');
    await row(tab, 'B').waitFor();
    let goOn: (() => void)[] = [];
    await tab.page.route(/CouponService\/Update$/, async (route) => {
      await new Promise<void>((resolve) => goOn.push(resolve));
      await route.continue();
    });
    const release = async (count: number) => {
      for (let left = count; left > 0; left -= 1) {
        await expect.poll(() => goOn.length).toBe(1);
        expect(await asks()).toBe(true);
        const [next] = goOn;
        goOn = [];
        next?.();
      }
    };
    await select('A', 'B');
    await tab.click('Extend…');
    await tab.field('New end').fill('2089-01-02');
    await tab.click('Extend', tab.text('2 coupons would end earlier than before.').first());
    expect(await asks()).toBe(false);
    await tab.click('Extend anyway');
    await release(2);
    await tab.notice('2 coupons extended').waitFor();
    expect(await ends()).toEqual([false, false]);
    expect(await asks()).toBe(false);
    await tab.notice('2 coupons extended').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => goOn.length).toBe(1);
    await tab.follow('Overview', 'Overview');
    await release(2);
    await expect.poll(ends).toEqual([true, true]);
    await expect.poll(asks).toBe(false);
  });

  it('All coupons of a list are selected, those of further pages too, and get a new end', async () => {
    await insertMany(160);
    await tab.open('/coupons?search=MANY');
    await row(tab, 'MANY1').waitFor();
    await tab.field('Select all').click();
    await tab.text('50 selected').waitFor();
    await tab.click('Select all 160 coupons', tab.text('160 selected'));
    expect(await tab.button(/^Select all/).count()).toBe(0);
    await tab.click('Extend…');
    await tab.field('New end').fill('2089-01-02');
    await tab.click('Extend', tab.text('160 coupons would end earlier than before.').first());
    await tab.click('Extend anyway', tab.notice('160 coupons extended'));
    const end = new Date('2089-01-02T23:59+05:30');
    expect(new Set((await readCoupons(stage.coupon)).map(({ valid_till }) => String(valid_till)))).toEqual(
      new Set([String(end)]),
    );
  });

  it('The selected coupons alone are exported, and the list’s other actions stand behind the dots', async () => {
    for (const code of ['A', 'B', 'C']) await insertCoupon(stage.coupon, { coupon_code: code });
    await tab.open('/coupons');
    await row(tab, 'A').waitFor();
    await select('A', 'C');
    const lines = await tab.savedCsv(tab.page.getByRole('toolbar', { name: 'Actions for the selection' }));
    expect(lines.map((line) => cellsOf(line)[0])).toEqual(['Code', 'C', 'A']);
    await chooseMore(tab, 'Refund for an order');
    await tab.heading('Refund for an order').waitFor();
  });

  it('A heading sorts all coupons, those of further pages included: one way, the other, then as at first', async () => {
    await insertMany(1_200);
    await sql(`update coupons set min_order = 5 where coupon_code = 'MANY1100'`);
    await tab.open('/coupons');
    await row(tab, 'MANY1').waitFor();
    await sortBy('Minimum order');
    await expect.poll(() => heading('Minimum order').getAttribute('aria-sort')).toBe('ascending');
    await sortBy('Minimum order');
    await expect.poll(async () => (await codes())[0]).toBe('MANY1100');
    expect(await heading('Minimum order').getAttribute('aria-sort')).toBe('descending');
    expect(query()).toEqual({ sort: '-Minimum order' });
    await sortBy('Minimum order');
    await expect.poll(async () => (await codes())[0]).toBe('MANY1');
    expect(query()).toEqual({});
  });

  it('All filters and the order stand in the address, and survive a reload', async () => {
    for (const [code, days] of Object.entries({ B: 5, A: 2, C: 20 })) await giveTo(4, await insertEnding(code, days));
    const chosen = { state: 'active', ends: '7', user: '4', sort: 'Code' };
    await tab.open(`/coupons?${new URLSearchParams(chosen)}`);
    await expect.poll(codes).toEqual(['A', 'B']);
    await tab.page.reload();
    await expect.poll(codes).toEqual(['A', 'B']);
    await tab.button('Customer: User 4').waitFor();
    expect(query()).toEqual(chosen);
  });

  it('The way back takes the filters back one by one, and then leaves the list', async () => {
    for (const code of ['OLD1', 'NEW1', 'NEW2']) await insertCoupon(stage.coupon, { coupon_code: code });
    await tab.open('/check');
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
    await tab.heading('Check a coupon').waitFor();
    await tab.page.goForward();
    await expect.poll(codes).toEqual(['NEW2', 'NEW1']);
    expect(await tab.field('Search by code').inputValue()).toBe('NEW');
  });

  it('A heading that is pressed right after a search was typed keeps its order', async () => {
    for (const code of ['IN2', 'OTHER', 'IN9', 'IN10']) await insertCoupon(stage.coupon, { coupon_code: code });
    await tab.open('/coupons', { initScript: pauseEndsWithNextAddress });
    await row(tab, 'IN2').waitFor();
    await tab.field('Search by code').fill('in');
    await sortBy('Code');
    await expect.poll(query).toHaveProperty('search', 'in');
    expect(query()).toEqual({ search: 'in', sort: 'Code' });
    await expect.poll(codes).toEqual(['IN2', 'IN9', 'IN10']);
  });

  it('A filter by state looks through further pages: the page says how many, shows what it has found, can be stopped, and goes on', async () => {
    await insertMany(4_200);
    await sql(`update coupons set is_invalidated = true where coupon_code in ('MANY900', 'MANY4200')`);
    await tab.open('/coupons');
    await row(tab, 'MANY1').waitFor();
    const { asked, release } = await holdAfterNext();
    await filter('State', 'Ended');
    await tab.text('1,050 looked through…').waitFor();
    expect(await codes()).toEqual(['MANY900']);
    await tab.click('Stop');
    release();
    await tab.button('Show more').waitFor();
    await endSeen(tab);
    expect(await tab.text('looked through').count()).toBe(0);
    expect(asked).toHaveLength(2);
    expect(await codes()).toEqual(['MANY900']);
    await tab.click('Show more');
    await expect.poll(codes).toEqual(['MANY900', 'MANY4200']);
  });

  it('A CSV file has all coupons that the search and the filters leave, once, across pages, in the order of the list', async () => {
    await insertMany(2_300);
    await sql(`update coupons set is_invalidated = true where coupon_code = 'MANY2299'`);
    await tab.open('/coupons?state=active&search=many2&sort=-Code');
    await row(tab, 'MANY2300').waitFor();
    const all = Array.from({ length: 2_300 }, (_, n) => `MANY${2_300 - n}`);
    expect(await savedCodes()).toEqual(all.filter((code) => code.includes('MANY2') && code !== 'MANY2299'));
  });

  it('A CSV file that takes long says how far it has come, and can be stopped', async () => {
    await insertMany(1_200);
    await tab.open('/coupons');
    await row(tab, 'MANY1').waitFor();
    const files: string[] = [];
    tab.page.on('download', (download) => files.push(download.suggestedFilename()));
    const { asked, release } = await holdAfterNext();
    await tab.click('Export CSV', tab.text('Exporting 1,000 rows…'));
    await tab.click('Stop', tab.button('Export CSV'));
    release();
    expect(asked).toHaveLength(2);
    // The file of a second attempt is the only one.
    expect(await savedCodes()).toEqual(Array.from({ length: 1_200 }, (_, n) => `MANY${n + 1}`));
    expect(files).toHaveLength(1);
  });

  it('A CSV file has times that can be sorted, with their zone in the heading, amounts as numbers, people apart, and no formula', async () => {
    await insertCoupon(stage.coupon, {
      ...{ coupon_code: '=1,"A"', flat_discount: 50.5, discount_percent: null, max_value: 1_200, min_order: 5_000 },
      ...{ starts_at: '2026-02-03T05:00:30Z', valid_till: '2099-01-02T05:00:30Z', max_uses: 500 },
      created_at: '2026-01-02T05:00:30Z',
    });
    await tab.open('/coupons');
    expect((await tab.savedCsv()).map(cellsOf)).toEqual([
      [
        ...['Code', 'Percent off', 'Amount off', 'Maximum discount', 'Minimum order', 'Customers'],
        ...['Starts (Asia/Kolkata)', 'Ends (Asia/Kolkata)', 'Usage limit', 'Used', 'Given', 'State'],
        ...['Created (Asia/Kolkata)', 'Created by'],
      ],
      [
        ...[`'=1,"A"`, '', '50.5', '1200', '5000', 'Everyone', '2026-02-03 10:30', '2099-01-02 10:30', '500'],
        ...['0', '0', 'Active', '2026-01-02 10:30', 'Asha Menon'],
      ],
    ]);
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
