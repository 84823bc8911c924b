import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { choose, deleteCoupons, insertCoupon, problemAt, readCoupons } from './coupon-steps.ts';
import { ConsoleStage, type TabOptions } from './stage.ts';

describeInBrowser('What looks like a mistake in a coupon', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(async () => {
    await tab.close();
    await deleteCoupons(stage.coupon);
  });

  afterAll(() => stage.close());

  /** Opens the form of a new coupon for everyone, 10 % off. */
  async function open(options: TabOptions = {}): Promise<void> {
    tab = await stage.openTab({ ...options, path: '/coupons/new' });
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Everyone');
  }

  const openStored = async (columns: Readonly<Record<string, unknown>> = {}) => {
    const id = await insertCoupon(stage.coupon, columns);
    tab = await stage.openTab({ path: `/coupons/${id}/edit` });
    await tab.heading('Edit coupon SAVE10').waitFor();
  };

  const create = () => tab.button('Create coupon').click();
  const question = () => tab.page.getByRole('alertdialog', { name: 'Is this right?' });
  /** The page of a new coupon whose code was made. */
  const created = () => tab.heading(/^Coupon DC/).waitFor();

  it('A code is put into capital letters as it is typed, and the form says why', async () => {
    await open();
    await tab.page.getByText(/In capital letters: a code is looked up in capital letters/).waitFor();
    await tab.field('Code').pressSequentially('summer26');
    expect(await tab.field('Code').inputValue()).toBe('SUMMER26');
  });

  it('A code can be corrected in its middle', async () => {
    await open();
    await tab.field('Code').pressSequentially('sumer');
    await tab.field('Code').press('ArrowLeft');
    await tab.field('Code').press('ArrowLeft');
    await tab.field('Code').pressSequentially('m2');
    expect(await tab.field('Code').inputValue()).toBe('SUMM2ER');
  });

  it('A coupon whose code was typed in lower case is then accepted by the checker', async () => {
    await open();
    await tab.field('Code').pressSequentially('summer26');
    await create();
    await tab.link('Check it').click();
    await tab.field('Order amount').fill('100');
    await tab.button('Check').click();
    await tab.page.getByText('Can be used').waitFor();
  });

  it('A space within a code is asked about, and none at its ends', async () => {
    await open();
    await tab.field('Code').fill(' fest 20 ');
    await create();
    await question().getByText('The code “FEST 20” has a space in it.').waitFor();
    await tab.button('Correct it').click();
    await tab.field('Code').fill(' fest20 ');
    await create();
    await tab.heading('Coupon FEST20').waitFor();
  });

  it('A percentage may be typed with its sign, and is no amount', async () => {
    await open();
    await tab.field('Percent off').fill('12.5 %');
    expect(await tab.field('Percent off').inputValue()).toBe('12.5 ');
    await tab.field('Smallest order').fill('10 %');
    await create();
    await tab.page.getByText('Enter a number, such as 150 or 99.5.').waitFor();
    await tab.field('Smallest order').fill('');
    await tab.field('Percent off').fill('$10');
    await create();
    await tab.page.getByText('Enter a percentage, such as 10.').waitFor();
  });

  it('A secret code is put into capital letters, too', async () => {
    tab = await stage.openTab({ path: '/coupons/reserved/new' });
    await tab.field('Secret code').pressSequentially('diwali');
    expect(await tab.field('Secret code').inputValue()).toBe('DIWALI');
  });

  it('A stored code in lower case is said to be of no use to customers', async () => {
    const id = await insertCoupon(stage.coupon, { coupon_code: 'summer26' });
    tab = await stage.openTab({ path: `/coupons/${id}` });
    await tab.page.getByText('Customers can’t use this code').waitFor();
  });

  it.each([
    [
      'A discount of more than the whole order',
      () => tab.field('Percent off').fill('150'),
      '150 % is more than the whole order.',
    ],
    [
      'The whole order for everyone, for ever',
      () => tab.field('Percent off').fill('100'),
      'Customers get 100 % off, without a largest discount, without an end, any number of times.',
    ],
    [
      'An end that has passed',
      () => tab.field('Valid until').fill('2020-01-01T10:00'),
      'The coupon has ended already: 1 Jan 2020, 10:00.',
    ],
    [
      'A coupon for nobody',
      () => choose(tab, 'For whom', 'Nobody yet'),
      'The coupon is for nobody: no one can use it until you say for whom it is.',
    ],
  ])('%s is asked about before anything is saved, and then saved all the same', async (_what, enter, sentence) => {
    await open();
    await enter();
    await create();
    await question().getByText(sentence, { exact: true }).waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.button('Create coupon all the same').click();
    await created();
    expect(await readCoupons(stage.coupon)).toHaveLength(1);
  });

  it('Everything that looks like a mistake is asked about at once', async () => {
    tab = await stage.openTab({ path: '/coupons/new' });
    await tab.field('Percent off').fill('150');
    await tab.field('Valid until').fill('2020-01-01T10:00');
    await create();
    await question().waitFor();
    expect(await question().getByRole('paragraph').count()).toBe(3);
  });

  it('Staff who correct a mistake find everything as they have entered it', async () => {
    await open();
    await tab.field('Code').fill('SPRING');
    await tab.field('Percent off').fill('150');
    await tab.field('Smallest order').fill('500');
    await tab.field('Valid until').fill('2099-01-02T10:30');
    await tab.pick('Products', 'Product 7');
    await create();
    await tab.button('Correct it').click();
    await question().waitFor({ state: 'detached' });
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.field('Percent off').fill('15');
    await create();
    await tab.heading('Coupon SPRING').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([
      {
        discount_percent: '15',
        min_order: '500',
        valid_till: new Date('2099-01-02T05:00:00Z'),
        is_apply_for_all: true,
        products: [7],
      },
    ]);
  });

  it('A coupon without a mistake is saved without a question', async () => {
    await open();
    await create();
    await created();
  });

  it('A stored coupon that is to take nothing off is asked about', async () => {
    await openStored();
    await tab.field('Percent off').fill('0');
    await tab.button('Save').click();
    await question().getByText('The coupon takes nothing off an order.').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '10' }]);
    await tab.button('Save all the same').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '0' }]);
  });

  it('A large discount that everyone may use from now on, or without its largest amount, is asked about', async () => {
    await openStored({ discount_percent: 50, max_value: 100, is_apply_for_all: false, max_limit_for_user: 1 });
    await choose(tab, 'For whom', 'Everyone');
    await tab.button('Save').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    await tab.link('Edit').click();
    await tab.field('Largest discount').fill('');
    await tab.button('Save').click();
    const words = 'Customers get 50 % off, without a largest discount, without an end.';
    await question().getByText(words, { exact: true }).waitFor();
    await tab.button('Correct it').click();
    await choose(tab, 'For whom', 'Nobody yet');
    await tab.field('Largest discount').fill('100');
    await tab.button('Save').click();
    await tab.button('Save all the same').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
  });

  it('In a stored coupon only what was changed is asked about', async () => {
    await openStored({ discount_percent: 150, is_apply_for_all: false });
    await tab.field('Smallest order').fill('500');
    await tab.field('Valid until').fill('2020-01-01T10:00');
    await tab.button('Save').click();
    await question().waitFor();
    const asked = await question().getByRole('paragraph').allInnerTexts();
    expect(asked).toEqual(['The coupon has ended already: 1 Jan 2020, 10:00.']);
    await tab.button('Correct it').click();
    await tab.field('Valid until').fill('');
    await tab.button('Save').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '150', min_order: '500' }]);
  });

  it('A stored limit that nobody could enter does not keep the form from being saved', async () => {
    await openStored({ max_limit_for_user: -1 });
    await tab.field('Smallest order').fill('500');
    await tab.button('Save').click();
    await tab.heading(/^Coupon SAVE10/).waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ min_order: '500', max_limit_for_user: -1 }]);
  });

  it('A pasted code with a character that nobody can see is refused, and the character is named', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    await tab.page.evaluate(`navigator.clipboard.writeText('SPRING\u200b26')`);
    await tab.field('Code').press('Control+V');
    await create();
    const problem = 'The code has an invisible character (U+200B) after “SPRING”. Remove it, or type the code anew.';
    await problemAt(tab, 'Code', problem).waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });

  it('White space at the ends of a code is left out', async () => {
    await open();
    await tab.field('Code').fill('\u00a0 SPRING26\t');
    await create();
    await tab.heading('Coupon SPRING26').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ coupon_code: 'SPRING26' }]);
  });

  it.each([
    ['percentage', 'Percent of the order', 'Percent off', 'Enter a percentage, such as 10.'],
    ['amount', 'Amount', 'Amount off', 'Enter an amount, such as 50.'],
  ])('The %s of a new coupon is asked for in plain words, empty or 0', async (_what, kind, label, problem) => {
    tab = await stage.openTab({ path: '/coupons/new' });
    await choose(tab, 'Kind of discount', kind);
    await create();
    await problemAt(tab, label, problem).waitFor();
    await tab.field(label).fill('0');
    await create();
    await problemAt(tab, label, problem).waitFor();
    expect(await tab.page.getByText(/must be provided/).count()).toBe(0);
    expect(await question().count()).toBe(0);
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });

  it('A coupon for chosen users without one asks for one in plain words', async () => {
    await open();
    await choose(tab, 'For whom', 'Chosen users');
    await create();
    const users = tab.page.getByRole('group', { name: 'Users', exact: true });
    await users.getByText('Choose at least one user.', { exact: true }).waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });
});
