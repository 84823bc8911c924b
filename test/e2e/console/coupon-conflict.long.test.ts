import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, overflow, readCoupons } from './coupon-steps.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('A coupon that somebody else has changed meanwhile', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;
  let id: number;

  /** Opens the form, lets somebody else save another smallest order, and sends a third one. */
  const meetConflict = async (width = 1_280) => {
    tab = await stage.openTab({ path: `/coupons/${id}/edit`, viewport: { width, height: 740 } });
    await tab.field('Largest discount').fill('99');
    await tab.field('Smallest order').fill('600');
    await stage.coupon.database.sql(`update coupons set min_order = 700, etag = next_etag() where id = ${id}`);
    await tab.button('Save').click();
    await tab.heading('Somebody else has changed coupon SAVE10').waitFor();
  };

  const dialog = () => tab.page.getByRole('alertdialog', { name: /Somebody else/ });
  const save = () => dialog().getByRole('button', { name: 'Save' }).click();

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  beforeEach(async () => {
    id = await insertCoupon(stage.coupon, { min_order: 500, max_value: 150 });
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  it('Both versions of what contradicts stand side by side, and nothing is overwritten', async () => {
    await meetConflict();
    expect(await dialog().getByRole('radiogroup').count()).toBe(1);
    await dialog().getByText('Yours: 600').waitFor();
    await dialog().getByText('Theirs: 700').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '700', max_value: '150' }]);
  });

  it('Staff who save their version make the coupon what their form shows', async () => {
    await meetConflict();
    await save();
    await tab.notice('Coupon SAVE10 saved').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '600', max_value: '99' }]);
  });

  it('Staff who choose the other version keep what does not contradict', async () => {
    await meetConflict();
    await dialog().getByText('Theirs: 700').click();
    await save();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '700', max_value: '99' }]);
  });

  it('Staff who go back to editing still have what they have entered', async () => {
    await meetConflict();
    await tab.button('Back to editing').click();
    expect(await tab.field('Largest discount').inputValue()).toBe('99');
    await tab.field('Smallest order').fill('800');
    await tab.button('Save').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '800', max_value: '99' }]);
  });

  it('Staff whom a third version meets while they choose are shown that one', async () => {
    await meetConflict();
    await stage.coupon.database.sql(`update coupons set min_order = 750, etag = next_etag() where id = ${id}`);
    await save();
    await dialog().getByText('Theirs: 750').waitFor();
    await save();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '600', max_value: '99' }]);
  });

  it('A coupon that was invalidated meanwhile stays so', async () => {
    tab = await stage.openTab({ path: `/coupons/${id}/edit` });
    await tab.field('Largest discount').fill('99');
    await stage.coupon.database.sql(`update coupons set is_invalidated = true, etag = next_etag() where id = ${id}`);
    await tab.button('Save').click();
    await tab.notice('Theirs are kept, too').waitFor();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ is_invalidated: true, max_value: '99' }]);
  });

  it('On a phone both versions can be read, and one chosen', async () => {
    await meetConflict(360);
    expect(await overflow(tab)).toBeLessThanOrEqual(0);
    await save();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ max_value: '99' }]);
  });
});
