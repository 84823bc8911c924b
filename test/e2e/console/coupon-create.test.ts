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
    await choose(tab, 'Customers', 'Everyone');
  };
  const create = () => tab.button('Create coupon').click();
  /** The page of a new coupon whose code was made. */
  const created = () => tab.heading(/^Coupon DC/).waitFor();
  const summary = () => tab.page.getByRole('complementary').getByRole('paragraph').innerText();
  const question = () => tab.page.getByRole('alertdialog', { name: 'Is this right?' });
  const users = () => tab.page.getByRole('group', { name: 'Selected customers', exact: true });

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
    await tab.fill({ Code: '\u00a0 SPRING\t', 'Percent off': '12.5 %', 'Maximum discount': '150' });
    await tab.fill({ 'Minimum order': '500', 'Uses per customer': '2', 'Usage limit': '500' });
    await tab.fill({ Starts: '2098-12-01T10:30', Ends: '2099-01-02T10:30' });
    await tab.text('Can’t be combined').click();
    expect(await summary()).toBe(
      '12.5% off, up to 150, on orders of 500 or more, for everyone, 2 times each, from Mon 1 Dec 2098, 10:30 until Fri 2 Jan 2099, 10:30, at most 500 uses, can’t be combined with other coupons.',
    );
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
    for (const fact of ['From Mon 1 Dec 2098, 10:30\nuntil Fri 2 Jan 2099, 10:30', '500'])
      expect(shown).toContain(fact);
  });

  it('Staff choose by name who may use it and for which products, on a phone, and a code that was left out is made', async () => {
    await open({ viewport: { width: 360, height: 740 } });
    await choose(tab, 'Type of discount', 'Fixed amount');
    await tab.field('Amount off').fill('80');
    await choose(tab, 'Customers', 'Selected customers');
    await tab.pick('Selected customers', 'User 4', 'User 2');
    await tab.pick('Products', 'Product 7');
    expect(await tab.overflow()).toBeLessThanOrEqual(0);
    await create();
    await created();
    await tab.section('Customers').getByText('User 4, 9000000004').waitFor();
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
    await tab.fill({ 'Percent off': '10', 'Minimum order': '10 %' });
    await create();
    await problemAt(tab, 'Minimum order', 'Enter a number, such as 150 or 99.5.').waitFor();
    await tab.field('Minimum order').fill('');
    await choose(tab, 'Customers', 'Selected customers');
    await create();
    await users().getByText('Choose at least one customer.', { exact: true }).waitFor();
    await tab.pick('Selected customers', 'User 1');
    expect(await users().getByText('Choose at least one customer.').count()).toBe(0);
    await tab.field('Usage limit').fill('0');
    await create();
    await problemAt(tab, 'Usage limit', 'Enter a whole number, such as 3.').waitFor();
    await tab.field('Usage limit').fill('1,000');
    expect(await tab.field('Usage limit').inputValue()).toBe('1000');
    await create();
    await problemAt(tab, 'Code', 'Coupon code already exists').waitFor();
    await tab.field('Code').fill('FREE');
    await create();
    await tab.heading('Coupon FREE').waitFor();
  });

  it('Staff are asked before they leave or sign out of what they have not saved, and only then', async () => {
    await open();
    await tab.field('Code').fill('HALF');
    for (const leave of [tab.link('Activity'), tab.button('Sign out')]) {
      await leave.click();
      await tab.heading('Leave without saving?').waitFor();
      await tab.click('Stay here');
      expect(await tab.field('Code').inputValue()).toBe('HALF');
    }
    await tab.link('Activity').click();
    await tab.click('Leave', tab.heading('Activity'));
    await tab.link('Coupons').click();
    await tab.link('New coupon').first().click();
    await tab.field('Code').waitFor();
    await tab.click('Sign out', tab.field('Token'));
  });

  it('A code is put into capital letters as it is typed, also in its middle, and is then accepted by the checker', async () => {
    await openFilled();
    await tab.text('Customers enter it at checkout. Leave empty to generate one.').waitFor();
    await tab.field('Code').pressSequentially('sumer');
    await tab.press('ArrowLeft', 'ArrowLeft');
    await tab.field('Code').pressSequentially('m2');
    expect(await tab.field('Code').inputValue()).toBe('SUMM2ER');
    await create();
    await tab.link('Check').click();
    await tab.fill({ 'Order amount': '100', 'Order number': 'order-7' });
    await tab.click('Check', tab.text('Can be used'));
  });

  it('A code is drawn at a press, of letters and digits that nobody takes for others, and another one at the next', async () => {
    await openFilled();
    const drawn = new Set<string>();
    for (const _ of [1, 2, 3]) {
      await tab.click('Generate');
      drawn.add(await tab.field('Code').inputValue());
    }
    expect(drawn.size).toBe(3);
    for (const code of drawn) expect(code).toMatch(/^[B-DF-HJKMNP-TV-Z2-9]{10}$/);
    await create();
    await tab.heading(`Coupon ${[...drawn][2]}`).waitFor();
  });

  it('Beside the form a sentence says what it will make, and under it what may be a mistake, as it is typed', async () => {
    await open();
    expect(await summary()).toBe('No discount, for everyone.');
    await tab.field('Percent off').fill('60');
    expect(await summary()).toBe('60% off, for everyone.');
    const concerns = () => tab.page.getByRole('complementary').getByRole('listitem').allInnerTexts();
    expect(await concerns()).toEqual([
      'Everyone gets 60% off with no maximum discount, with no end date, any number of times.',
    ]);
    await choose(tab, 'Customers', 'Selected customers');
    await tab.pick('Selected customers', 'User 4');
    await tab.fill({ 'Maximum discount': '300', 'Uses per customer': '1', 'Usage limit': 'x' });
    await tab.pick('Products', 'Product 7');
    expect(await summary()).toBe('60% off, up to 300, for 1 customer, on 1 product only, once each.');
    expect(await concerns()).toEqual([]);
  });

  it('A stored code in lower case is said to be of no use to customers', async () => {
    const id = await insertCoupon(stage.coupon, { coupon_code: 'summer26' });
    await tab.open(`/coupons/${id}`);
    await tab.text('Customers can’t use this code').waitFor();
  });

  it('What nobody can see in a code that is pasted is left out', async () => {
    await openFilled({ permissions: ['clipboard-read', 'clipboard-write'] });
    await tab.page.evaluate(`navigator.clipboard.writeText('SPRING\u200b26')`);
    await tab.field('Code').press('Control+V');
    await create();
    await tab.heading('Coupon SPRING26').waitFor();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ coupon_code: 'SPRING26' }]);
  });

  it('What looks like a mistake is asked about at once, before it is saved anyway; who corrects it finds everything as entered', async () => {
    await openFilled();
    await tab.pick('Products', 'Product 7');
    for (const [percent, sentence] of [
      ['150', '150% is more than the whole order.'],
      ['100', 'Everyone gets 100% off with no maximum discount, with no end date, any number of times.'],
    ] as const) {
      await tab.field('Percent off').fill(percent);
      await create();
      await question().getByText(sentence, { exact: true }).waitFor();
      await tab.click('Go back');
      await question().waitFor({ state: 'detached' });
    }
    await tab.fill({ Code: ' fest 20 ', 'Percent off': '15', Ends: '2020-01-01T10:00' });
    await choose(tab, 'Customers', 'Nobody yet');
    await create();
    await question().waitFor();
    expect(await question().getByRole('paragraph').allInnerTexts()).toEqual([
      'Customers can’t use this coupon until you choose who it’s for.',
      'The code “FEST 20” has a space in it.',
      'This end date has passed: Wed 1 Jan 2020, 10:00. Customers can’t use the coupon.',
    ]);
    expect(await readCoupons(stage.coupon)).toEqual([]);
    await tab.click('Create coupon anyway', tab.heading('Coupon FEST 20'));
    const valid_till = new Date('2020-01-01T04:30:00Z');
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '15', valid_till, products: [7] }]);
  });

  it('An end at midnight is asked about, because the day that it names is not in it', async () => {
    await openFilled();
    await tab.time('Ends').fill('2090-12-24T00:00');
    await create();
    await question()
      .getByText('The coupon ends as Sun 24 Dec 2090 begins. To include that day, end it at 23:59.')
      .waitFor();
    await tab.click('Go back');
    await tab.time('Ends').fill('2090-12-24T23:59');
    await create();
    await created();
  });

  it('A first and a last day are entered without times: all of both days is in between', async () => {
    await openFilled();
    await tab.fill({ Starts: '2090-12-01', Ends: '2090-12-24' });
    expect(await tab.time('Starts').inputValue()).toBe('2090-12-01T00:00');
    await create();
    await created();
    const limits = { starts_at: new Date('2090-12-01T00:00+05:30'), valid_till: new Date('2090-12-24T23:59+05:30') };
    expect(await readCoupons(stage.coupon)).toMatchObject([limits]);
  });

  it('A coupon that makes orders free for everyone is asked about, unless its cost has a bound', async () => {
    await openFilled();
    await tab.field('Percent off').fill('100');
    await create();
    await question().getByText('Everyone gets 100% off with no maximum discount, with no end').waitFor();
    await tab.click('Go back');
    await choose(tab, 'Type of discount', 'Fixed amount');
    await tab.fill({ 'Amount off': '500', 'Minimum order': '200' });
    await create();
    const free = 'Orders up to 500 are free, with no end date.';
    await question().getByText(free, { exact: true }).waitFor();
    await tab.click('Go back');
    await tab.field('Minimum order').fill('');
    await create();
    await question().getByText(free, { exact: true }).waitFor();
    await tab.click('Go back');
    await choose(tab, 'Type of discount', 'Percentage');
    await tab.fill({ Ends: '2099-01-02T10:30', 'Usage limit': '500' });
    await tab.button('Create coupon').click();
    await created();
    expect(await readCoupons(stage.coupon)).toMatchObject([{ discount_percent: '100', max_uses: 500 }]);
  });

  it('A start behind the end is asked about, and a start that is cleared is none', async () => {
    await openFilled();
    await tab.fill({ Code: 'LATE', Starts: '2099-01-03T10:30', Ends: '2099-01-02T10:30' });
    await create();
    const never = 'It starts on Sat 3 Jan 2099, 10:30, after its end: nobody can ever use it.';
    expect(await question().getByRole('paragraph').allInnerTexts()).toEqual([never]);
    await tab.click('Create coupon anyway', tab.heading('Coupon LATE'));
    await tab.link('Edit').click();
    await tab.fill({ Starts: '', 'Usage limit': '7' });
    await tab.click('Save', tab.heading('Coupon LATE'));
    expect(await readCoupons(stage.coupon)).toMatchObject([{ starts_at: null, max_uses: 7 }]);
    await tab.link('Edit').click();
    await tab.field('Usage limit').fill('');
    await tab.click('Save', tab.heading('Coupon LATE'));
    await expect.poll(() => readCoupons(stage.coupon)).toMatchObject([{ max_uses: 0 }]);
  });

  it('In a stored coupon only what was changed is asked about, and a limit that nobody could enter does not keep it from being saved', async () => {
    const columns = { discount_percent: 150, is_apply_for_all: false, max_limit_for_user: -1 };
    const id = await insertCoupon(stage.coupon, columns);
    await tab.open(`/coupons/${id}/edit`);
    for (const [label, text, words] of [
      ['Ends', '2020-01-01T10:00', 'This end date has passed: Wed 1 Jan 2020, 10:00. Customers can’t use the coupon.'],
      ['Percent off', '0', 'This coupon gives no discount.'],
      ['Percent off', '50', 'Customers get 50% off with no maximum discount, with no end date, any number of times.'],
    ] as const) {
      await tab.fill({ 'Minimum order': '500', [label]: text });
      await tab.click('Save', question());
      expect(await question().getByRole('paragraph').allInnerTexts()).toEqual([words]);
      await tab.click('Go back');
      await tab.field('Ends').fill('');
    }
    await tab.field('Maximum discount').fill('100');
    await tab.click('Save', tab.heading(/^Coupon SAVE10/));
    const stored = { discount_percent: '50', min_order: '500', max_limit_for_user: -1 };
    expect(await readCoupons(stage.coupon)).toMatchObject([stored]);
  });
});
