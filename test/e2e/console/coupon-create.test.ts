import { afterEach, expect, it } from 'vitest';
import { choose, deleteCoupons, insertCoupon, problemAt, readCoupons } from './coupon-steps.ts';
import { describeConsole, type TabOptions } from './stage.ts';

describeConsole('A new coupon', (stage, tab) => {
  afterEach(() => deleteCoupons(stage.coupon));

  const open = async (options: TabOptions = {}) => {
    await tab.open('/coupons/new', { ...options });
    await tab.heading('New coupon').waitFor();
  };
  /** Opens the form of a coupon for everyone, 10 % off. */
  const openFilled = async (options: TabOptions = {}) => {
    await open(options);
    await tab.field('Percent off').fill('10');
    await choose(tab, 'For whom', 'Everyone');
  };
  const create = () => tab.button('Create coupon').click();
  /** The page of a new coupon whose code was made. */
  const created = () => tab.heading(/^Coupon DC/).waitFor();
  const question = () => tab.page.getByRole('alertdialog', { name: 'Is this right?' });
  const users = () => tab.page.getByRole('group', { name: 'Users', exact: true });

  it.each(['/coupons/new', '/slots/new'])(
    'The form of %s ends with its content: the page does not scroll into nothing',
    async (path) => {
      await tab.open(path, { viewport: { width: 1_280, height: 800 } });
      await tab.page.getByRole('grid', { name: 'Products: found' }).getByRole('row').nth(10).waitFor();
      const beyond =
        'document.documentElement.scrollHeight - document.querySelector("main").getBoundingClientRect().bottom - scrollY';
      expect(await tab.page.evaluate<number>(beyond)).toBeLessThan(50);
    },
  );

  it('Staff create a coupon for everyone with all its terms, once at a double click and without a question, and come to its page', async () => {
    await openFilled();
    await tab.fill({ Code: '\u00a0 SPRING\t', 'Percent off': '12.5 %', 'Largest discount': '150' });
    await tab.fill({ 'Smallest order': '500', 'Uses for each user': '2', 'Uses in all': '500' });
    await tab.fill({ Starts: '2098-12-01T10:30', 'Valid until': '2099-01-02T10:30' });
    await tab.text('Not with other coupons').click();
    await tab.button('Create coupon').dblclick();
    await tab.notice('Coupon SPRING created').waitFor();
    await tab.heading('Coupon SPRING').waitFor();
    const terms = {
      ...{ coupon_code: 'SPRING', discount_percent: '12.5', flat_discount: null, max_value: '150', min_order: '500' },
      ...{ starts_at: new Date('2098-12-01T05:00:00Z'), valid_till: new Date('2099-01-02T05:00:00Z') },
      ...{ max_limit_for_user: 2, max_uses: 500, exclusive_apply: true },
      ...{ is_apply_for_all: true, is_user_based: false, users: [], products: [], created_by: 1 },
    };
    const coupons = await readCoupons(stage.coupon);
    expect(coupons).toHaveLength(1);
    expect(coupons).toMatchObject([terms]);
    await tab.exactly('Scheduled').waitFor();
    const shown = await tab.section('Terms').innerText();
    for (const fact of ['From 1 Dec 2098, 10:30\nuntil 2 Jan 2099, 10:30', '500']) expect(shown).toContain(fact);
  });

  it('Staff choose by name who may use it and for which products, on a phone, and a code that was left out is made', async () => {
    await open({ viewport: { width: 360, height: 740 } });
    await choose(tab, 'Kind of discount', 'Amount');
    await tab.field('Amount off').fill('80');
    await choose(tab, 'For whom', 'Chosen users');
    await tab.pick('Users', 'User 4', 'User 2');
    await tab.pick('Products', 'Product 7');
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await create();
    await created();
    await tab.section('Users').getByText('User 4, 9000000004').waitFor();
    await tab.section('Products').getByText('Product 7').waitFor();
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    const coupon = { flat_discount: '80', discount_percent: null, valid_till: null, users: [2, 4], products: [7] };
    expect(await readCoupons(stage.coupon)).toMatchObject([
      { ...coupon, is_user_based: true, is_apply_for_all: false },
    ]);
  });

  it('What is wrong is told in plain words at its field, by the page or by the service, and goes once it is mended', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'TAKEN' });
    await open();
    await tab.field('Code').fill('TAKEN');
    for (const text of ['', '0', '$10']) {
      await tab.field('Percent off').fill(text);
      await create();
      await problemAt(tab, 'Percent off', 'Enter a percentage, such as 10.').waitFor();
    }
    await tab.fill({ 'Percent off': '10', 'Smallest order': '10 %' });
    await create();
    await problemAt(tab, 'Smallest order', 'Enter a number, such as 150 or 99.5.').waitFor();
    await tab.field('Smallest order').fill('');
    await choose(tab, 'For whom', 'Chosen users');
    await create();
    await users().getByText('Choose at least one user.', { exact: true }).waitFor();
    await tab.pick('Users', 'User 1');
    await create();
    await problemAt(tab, 'Code', 'Coupon code already exists').waitFor();
    await tab.field('Code').fill('FREE');
    await create();
    await tab.heading('Coupon FREE').waitFor();
  });

  it('Staff are asked before they leave or sign out of what they have not saved, and only then', async () => {
    await open();
    await tab.field('Code').fill('HALF');
    for (const leave of [tab.link('Customers'), tab.button('Sign out')]) {
      await leave.click();
      await tab.heading('Leave without saving?').waitFor();
      await tab.click('Stay here');
      expect(await tab.field('Code').inputValue()).toBe('HALF');
    }
    await tab.link('Customers').click();
    await tab.click('Leave', tab.heading('Users'));
    await tab.link('Coupons').click();
    await tab.link('New coupon').click();
    await tab.field('Code').waitFor();
    await tab.click('Sign out', tab.field('Token'));
  });

  it('A code is put into capital letters as it is typed, also in its middle, and is then accepted by the checker', async () => {
    await openFilled();
    await tab.text(/In capital letters: a code is looked up in capital letters/).waitFor();
    await tab.field('Code').pressSequentially('sumer');
    await tab.press('ArrowLeft', 'ArrowLeft');
    await tab.field('Code').pressSequentially('m2');
    expect(await tab.field('Code').inputValue()).toBe('SUMM2ER');
    await create();
    await tab.link('Check it').click();
    await tab.fill({ 'Order amount': '100', 'Order number': 'order-7' });
    await tab.click('Check', tab.text('Can be used'));
  });

  it('A stored code in lower case is said to be of no use to customers', async () => {
    const id = await insertCoupon(stage.coupon, { coupon_code: 'summer26' });
    await tab.open(`/coupons/${id}`);
    await tab.text('Customers can’t use this code').waitFor();
  });

  it('A pasted code with a character that nobody can see is refused, and the character is named', async () => {
    await openFilled({ permissions: ['clipboard-read', 'clipboard-write'] });
    await tab.page.evaluate(`navigator.clipboard.writeText('SPRING\u200b26')`);
    await tab.field('Code').press('Control+V');
    await create();
    const problem = 'The code has an invisible character (U+200B) after “SPRING”. Remove it, or type the code anew.';
    await problemAt(tab, 'Code', problem).waitFor();
    expect(await readCoupons(stage.coupon)).toEqual([]);
  });

  it('What looks like a mistake is asked about at once, before it is saved all the same; who corrects it finds everything as entered', async () => {
    await openFilled();
    await tab.pick('Products', 'Product 7');
    for (const [percent, sentence] of [
      ['150', '150 % is more than the whole order.'],
      ['100', 'Customers get 100 % off, without a largest discount, without an end, any number of times.'],
    ] as const) {
      await tab.field('Percent off').fill(percent);
      await create();
      await question().getByText(sentence, { exact: true }).waitFor();
      await tab.click('Correct it');
      await question().waitFor({ state: 'detached' });
    }
    await tab.fill({ Code: ' fest 20 ', 'Percent off': '15', 'Valid until': '2020-01-01T10:00' });
    await choose(tab, 'For whom', 'Nobody yet');
    await create();
    await question().waitFor();
    expect(await question().getByRole('paragraph').allInnerTexts()).toEqual([
      'The coupon is for nobody: no one can use it until you say for whom it is.',
      'The code “FEST 20” has a space in it.',
      'The coupon has ended already: 1 Jan 2020, 10:00.',
    ]);
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.click('Create coupon all the same', tab.heading('Coupon FEST 20'));
    const valid_till = new Date('2020-01-01T04:30:00Z');
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '15', valid_till, products: [7] }]);
  });

  it('A coupon that makes orders free for everyone is asked about, unless its cost has a bound', async () => {
    await openFilled();
    await tab.field('Percent off').fill('100');
    await create();
    await question().getByText('Customers get 100 % off, without a largest discount, without an end').waitFor();
    await tab.click('Correct it');
    await choose(tab, 'Kind of discount', 'Amount');
    await tab.fill({ 'Amount off': '500', 'Smallest order': '200' });
    await create();
    const free = 'Orders up to 500.00 cost nothing, without an end.';
    await question().getByText(free, { exact: true }).waitFor();
    await tab.click('Correct it');
    await tab.field('Smallest order').fill('');
    await create();
    await question().getByText(free, { exact: true }).waitFor();
    await tab.click('Correct it');
    await choose(tab, 'Kind of discount', 'Percent of the order');
    await tab.fill({ 'Valid until': '2099-01-02T10:30', 'Uses in all': '500' });
    await tab.button('Create coupon').click();
    await created();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '100', max_uses: 500 }]);
  });

  it('A start behind the end is asked about, and a start that is cleared is none', async () => {
    await openFilled();
    await tab.fill({ Code: 'LATE', Starts: '2099-01-03T10:30', 'Valid until': '2099-01-02T10:30' });
    await create();
    const never = 'The coupon starts when it has ended already, on 3 Jan 2099, 10:30: nobody can ever use it.';
    expect(await question().getByRole('paragraph').allInnerTexts()).toEqual([never]);
    await tab.click('Create coupon all the same', tab.heading('Coupon LATE'));
    await tab.link('Edit').click();
    await tab.fill({ Starts: '', 'Uses in all': '7' });
    await tab.click('Save', tab.button('Invalidate'));
    expect(await readCoupons(stage.coupon)).toMatchObject([{ starts_at: null, max_uses: 7 }]);
    await tab.link('Edit').click();
    await tab.field('Uses in all').fill('');
    await tab.click('Save', tab.exactly('No limit'));
    expect(await readCoupons(stage.coupon)).toMatchObject([{ max_uses: 0 }]);
  });

  it('In a stored coupon only what was changed is asked about, and a limit that nobody could enter does not keep it from being saved', async () => {
    const columns = { discount_percent: 150, is_apply_for_all: false, max_limit_for_user: -1 };
    const id = await insertCoupon(stage.coupon, columns);
    await tab.open(`/coupons/${id}/edit`);
    for (const [label, text, words] of [
      ['Valid until', '2020-01-01T10:00', 'The coupon has ended already: 1 Jan 2020, 10:00.'],
      ['Percent off', '0', 'The coupon takes nothing off an order.'],
      ['Percent off', '50', 'Customers get 50 % off, without a largest discount, without an end, any number of times.'],
    ] as const) {
      await tab.fill({ 'Smallest order': '500', [label]: text });
      await tab.click('Save', question());
      expect(await question().getByRole('paragraph').allInnerTexts()).toEqual([words]);
      await tab.click('Correct it');
      await tab.field('Valid until').fill('');
    }
    await tab.field('Largest discount').fill('100');
    await tab.click('Save', tab.heading(/^Coupon SAVE10/));
    const stored = { discount_percent: '50', min_order: '500', max_limit_for_user: -1 };
    expect(await readCoupons(stage.coupon)).toMatchObject([stored]);
  });
});
