import { afterEach, beforeEach, expect, it } from 'vitest';
import { deleteCoupons, insertCoupon, readCoupons } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('A coupon that somebody else has changed meanwhile', (stage, tab) => {
  let id: number;

  beforeEach(async () => {
    id = await insertCoupon(stage.coupon, { min_order: 500, max_value: 150 });
  });

  afterEach(() => deleteCoupons(stage.coupon));

  const changeMeanwhile = (change: string) =>
    stage.sql(`update coupons set ${change}, etag = next_etag() where id = ${id}`);
  /** Opens the form, lets somebody else save another smallest order, and sends a third one. */
  const meetConflict = async (width = 1_280) => {
    await tab.open(`/coupons/${id}/edit`, { viewport: { width, height: 740 } });
    await tab.fill({ 'Largest discount': '99', 'Smallest order': '600' });
    await changeMeanwhile('min_order = 700');
    await tab.click('Save', tab.heading('Somebody else has changed coupon SAVE10'));
  };
  const dialog = () => tab.page.getByRole('alertdialog', { name: /Somebody else/ });
  const save = () => dialog().getByRole('button', { name: 'Save' }).click();
  const expectSaved = async (terms: object) => {
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([terms]);
  };

  it('Both versions of what contradicts stand side by side, nothing is overwritten, and the own one is saved', async () => {
    await meetConflict();
    expect(await dialog().getByRole('radiogroup').count()).toBe(1);
    await dialog().getByText('Yours: 600').waitFor();
    await dialog().getByText('Theirs: 700').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '700', max_value: '150' }]);
    await save();
    await tab.notice('Coupon SAVE10 saved').waitFor();
    await expectSaved({ min_order: '600', max_value: '99' });
  });

  it('Staff who choose the other version, on a phone, keep what does not contradict', async () => {
    await meetConflict(360);
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await dialog().getByText('Theirs: 700').click();
    await save();
    await expectSaved({ min_order: '700', max_value: '99' });
  });

  it('Staff who go back to editing still have what they have entered', async () => {
    await meetConflict();
    await tab.click('Back to editing');
    expect(await tab.field('Largest discount').inputValue()).toBe('99');
    await tab.field('Smallest order').fill('800');
    await tab.click('Save');
    await expectSaved({ min_order: '800', max_value: '99' });
  });

  it('Staff whom a third version meets while they choose are shown that one', async () => {
    await meetConflict();
    await changeMeanwhile('min_order = 750');
    await save();
    await dialog().getByText('Theirs: 750').waitFor();
    await save();
    await expectSaved({ min_order: '600', max_value: '99' });
  });

  it('A coupon that was invalidated meanwhile stays so', async () => {
    await tab.open(`/coupons/${id}/edit`);
    await tab.field('Largest discount').fill('99');
    await changeMeanwhile('is_invalidated = true');
    await tab.click('Save', tab.notice('Theirs are kept, too'));
    await expectSaved({ is_invalidated: true, max_value: '99' });
  });
});
