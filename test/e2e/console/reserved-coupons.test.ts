import { afterEach, expect, it } from 'vitest';
import { cellsOf, choose, deleteCoupons, problemAt, readCoupons, row, scrollToEnd } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('Reserved coupons', (stage, tab) => {
  const stored = () => stage.sql<Record<string, unknown>>('select * from reserved_coupons order by created_at desc');

  const insertHushed = () =>
    stage.sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ('HUSH1', 'CODE1', 50, 1)`,
    );

  afterEach(() => deleteCoupons(stage.coupon));

  it('Staff reserve a coupon under a secret code of their own, and copy the code', async () => {
    await tab.open('/coupons', { permissions: ['clipboard-read', 'clipboard-write'] });
    await tab.link('Reserved').click();
    await tab.text('No reserved coupons yet.').waitFor();
    await tab.link('New reserved coupon').first().click();
    await tab.field('Secret code').pressSequentially('whisper');
    await tab.fill({ 'Percent off': '25', 'Maximum discount': '200', 'Minimum order': '300' });
    await tab.fill({ Starts: '2098-01-02T10:30', Ends: '2099-01-02T10:30' });
    await tab.fill({ 'Uses per customer': '1', 'Usage limit': '1' });
    await tab.text('Can’t be combined').click();
    await tab.click('Create reserved coupon');
    const made =
      '25% off, up to 200, on orders of 300 or more, once each, from Thu 2 Jan 2098, 10:30 until Fri 2 Jan 2099, 10:30, at most 1 use, can’t be combined with other coupons.';
    await tab.exactly(made).waitFor();
    await tab.click('Copy code WHISPER');
    await expect.poll(() => tab.page.evaluate('navigator.clipboard.readText()')).toBe('WHISPER');
    const terms = { discount_percent: '25', max_value: '200', min_order: '300', max_limit_for_user: 1 };
    const limits = { starts_at: new Date('2098-01-02T05:00:00Z'), max_uses: 1 };
    const codes = { secret_code: 'WHISPER', coupon_code: 'WHISPER', valid_till: new Date('2099-01-02T05:00:00Z') };
    expect(await stored()).toMatchObject([{ ...codes, ...terms, ...limits, exclusive_apply: true, created_by: 1 }]);
  });

  it('A secret code that exists is told at its field, and one that is left out is made, and shown; a double click makes one', async () => {
    await insertHushed();
    await tab.open('/coupons/reserved/new');
    await tab.field('Secret code').fill('HUSH1');
    await choose(tab, 'Type of discount', 'Fixed amount');
    await tab.field('Amount off').fill('75');
    await tab.click('Create reserved coupon');
    await problemAt(tab, 'Secret code', 'Secret code already exists').waitFor();
    await tab.field('Secret code').fill('');
    await tab.button('Create reserved coupon').dblclick();
    await tab.button(/^Copy code SECRET/).waitFor();
    const [coupon, ...others] = await stored();
    expect(others).toMatchObject([{ secret_code: 'HUSH1' }]);
    await tab.page.getByRole('status').getByText(String(coupon?.secret_code)).waitFor();
  });

  it('“Claim for…” gives a reserved coupon to a user, once, and leads to the coupon that it has become', async () => {
    await insertHushed();
    await tab.open('/coupons/reserved?state=Not+claimed');
    await tab.click('Claim for… HUSH1');
    await tab.text('This can’t be undone.').waitFor();
    await tab.click('Claim', tab.text('Choose a customer.'));
    await tab.pick('Customer', 'User 2', 'User 4');
    await tab.button('Claim').dblclick();
    await tab.notice('Secret code HUSH1 claimed').waitFor();
    await tab.text('No reserved coupons found.').waitFor();
    const result = tab.page.getByRole('status', { name: 'Coupon for User 4' });
    expect(
      await result.getByRole('heading').evaluate((heading) => heading === heading.ownerDocument.activeElement),
    ).toBe(true);
    await result.getByText('50 off.').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ coupon_code: 'CODE1', users: [4], flat_discount: '50' }]);
    await result.getByRole('link', { name: 'Open coupon' }).click();
    await tab.heading('Coupon CODE1').waitFor();
    await tab.section('Customers').getByRole('link', { name: 'User 4, 9000000004' }).waitFor();
    await tab.page.goBack();
    await tab.select(/^Not claimed/, 'Any');
    await row(tab, 'HUSH1').getByRole('link', { name: 'User 4' }).waitFor();
    expect(await tab.button(/^Claim for/).count()).toBe(0);
  });

  it('One whose start is ahead is scheduled, and can be claimed before it', async () => {
    await insertHushed();
    await stage.sql(`update reserved_coupons set starts_at = '2098-01-02T05:00:00Z', max_uses = 1500`);
    await tab.open('/coupons/reserved?state=Scheduled');
    const cells = async () => (await row(tab, 'HUSH1').getByRole('cell').allInnerTexts()).slice(3, 6);
    await expect.poll(cells).toEqual(['No end date', 'Claim for…', 'Scheduled']);
    const [headings, line] = (await tab.savedCsv()).map(cellsOf);
    expect(headings?.slice(6, 9)).toEqual(['Starts (Asia/Kolkata)', 'Ends (Asia/Kolkata)', 'Usage limit']);
    expect(line?.slice(6, 9)).toEqual(['2098-01-02 10:30', '', '1500']);
  });

  it('The list tells who has redeemed each, also in its file, finds them by codes and states, and goes on to its end', async () => {
    await stage.sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by, redeemed_by, created_at)
       select 'HUSH' || n, 'CODE' || n, 50, 1, case when n = 70 then 2 end, now() - n * interval '1 minute'
       from generate_series(1, 70) n`,
    );
    await tab.open('/coupons/reserved');
    const codes = () => tab.page.getByRole('rowheader').allInnerTexts();
    const cells = async (code: string) => (await row(tab, code).getByRole('cell').allInnerTexts()).slice(0, 6);
    await row(tab, 'HUSH1').waitFor();
    await scrollToEnd(tab, 70);
    const terms = ['50', 'Any order', 'No end date'];
    expect(await cells('HUSH69')).toEqual(['CODE69', ...terms, 'Claim for…', 'Not claimed']);
    expect(await cells('HUSH70')).toEqual(['CODE70', ...terms, 'User 2', 'Claimed']);
    await tab.field('Search by secret code or code').fill('code33');
    await expect.poll(codes).toEqual(['HUSH33']);
    await tab.field('Search by secret code or code').fill('');
    await tab.select(/^Any/, 'Claimed');
    await expect.poll(codes).toEqual(['HUSH70']);
    expect(new URL(tab.page.url()).search).toBe('?state=Claimed');
    const [headings, ...lines] = (await tab.savedCsv()).map(cellsOf);
    expect(headings?.slice(9, 12)).toEqual(['Claimed by', 'Mobile number', 'State']);
    expect(lines.map((line) => [...line.slice(0, 4), ...line.slice(9, 12)])).toEqual([
      ['HUSH70', 'CODE70', '', '50', 'User 2', '9000000002', 'Claimed'],
    ]);
  });
});
