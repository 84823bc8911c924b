import { afterEach, expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { colleague } from './clients.ts';
import type { ConsoleTab } from './console-tab.ts';
import { deleteCoupons, insertCoupon, problemAt, row } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

const answerOf = (tab: ConsoleTab) => tab.page.getByRole('status', { name: 'Answer' });

const factsOf = async (tab: ConsoleTab) => {
  const facts = await answerOf(tab).locator('dl > div').allInnerTexts();
  return facts.map((text) => text.replace(/\s+/g, ' '));
};

async function check(tab: ConsoleTab, code: string, amount: string): Promise<void> {
  await tab.fill({ Code: code, 'Order amount': amount });
  await tab.press('Enter');
}

describeConsole('The check of a coupon', (stage, tab) => {
  afterEach(async () => {
    await stage.sql('delete from redemptions; delete from coupon_usage');
    await deleteCoupons(stage.coupon);
  });

  const answer = () => answerOf(tab);
  /** The discount, and what the order then costs. */
  const amounts = () => factsOf(tab);
  const conditions = async () => {
    const list = answer().getByRole('list', { name: 'Conditions' });
    return (await list.getByRole('listitem').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  };
  const verdict = () => answer().getByRole('paragraph').first().innerText();
  /** Chooses the customer, by a part of the name or by the mobile number. */
  const chooseCustomer = async (text: string, name: string) => {
    await tab.click(/^Customer: /);
    const group = tab.page.getByRole('group', { name: 'Customer', exact: true });
    await group.getByRole('searchbox').fill(text);
    const found = tab.page.getByRole('grid', { name: 'Customer: found' }).getByRole('row');
    // The rows before the search was typed are those of everybody.
    await found.filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
    await tab.page.getByRole('row', { name, exact: true }).click();
    await tab.button(`Customer: ${name}`).waitFor();
  };
  const addProduct = async (name: string, button = 'Product: none') => {
    await tab.click(button);
    await tab.pick(button.replace(/:.*/, ''), name);
    await tab.field(`Amount: ${name}`).first().waitFor();
  };
  const use = async (code: string, userId: number, orderKey: string) => {
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    const order = { userId, orderKey, orderAmount: 250, productIds: [4], holdSeconds: 0 };
    expect(await orders.redeem({ code, ...order })).toMatchObject({ valid: true });
  };
  /** A coupon that asks for everything: 10 % off product 4, for user 2. */
  const insertDemanding = async (columns: Record<string, unknown> = {}) => {
    const id = await insertCoupon(stage.coupon, {
      ...{ is_apply_for_all: false, is_user_based: true, min_order: 50, max_limit_for_user: 3, max_uses: 500 },
      ...{ exclusive_apply: true, starts_at: '2001-01-01', valid_till: '2099-01-01' },
      ...columns,
    });
    await stage.sql(
      `insert into coupon_applicable_users (coupon_id, user_id) values (${id}, 2);
       insert into coupon_applicable_products (coupon_id, product_id) values (${id}, 4)`,
    );
    return id;
  };
  const [start, end] = ['Mon 1 Jan 2001, 05:30', 'Thu 1 Jan 2099, 05:30'];

  it('An order that meets all conditions can use the coupon: each has a tick, beside the discount and the uses that are left', async () => {
    await insertDemanding();
    await use('SAVE10', 2, 'earlier');
    await tab.open('/check');
    await chooseCustomer('+91 90000-00002', 'User 2');
    await tab.fill({ Code: ' save10', 'Order amount': '100', 'Order number': 'order-7' });
    await addProduct('Product 4');
    await tab.field('Amount: Product 4').fill('60');
    await tab.click('Check');
    await answer().waitFor();
    expect(await verdict()).toBe('Can be used');
    // Ten percent of the line, not of the order.
    expect(await amounts()).toEqual(['Discount 6.00', 'Order total after discount 94.00']);
    await expect
      .poll(conditions)
      .toEqual([
        `Met: Not expired Until ${end}`,
        `Met: Has started Since ${start}`,
        'Met: Available',
        'Met: Minimum order 50',
        'Met: Customers This customer can use it',
        'Met: Products',
        'Met: Combinations',
        'Met: Uses per customer 2 left',
        'Met: Usage limit 499 left',
      ]);
    await tab.follow('Open coupon SAVE10', /^Coupon SAVE10/);
  });

  it('What was not said is not checked, and without it no coupon is said to be usable', async () => {
    await insertDemanding();
    await tab.open('/check');
    await tab.field('Code').fill('SAVE10');
    await tab.click('Check');
    await answer().waitFor();
    expect(await verdict()).toBe('Not certain yet Nothing rules it out so far.');
    expect(await answer().getByText('Can be used').count()).toBe(0);
    const unsaid = 'the order amount, the customer, the products, and the order number';
    await answer().getByText(`Not checked because you didn’t enter ${unsaid}.`).waitFor();
    await expect
      .poll(conditions)
      .toEqual([
        `Met: Not expired Until ${end}`,
        `Met: Has started Since ${start}`,
        'Met: Available',
        'Not checked: Minimum order 50',
        'Not checked: Customers',
        'Not checked: Products',
        'Not checked: Combinations',
        'Not checked: Uses per customer',
        'Met: Usage limit 500 left',
      ]);
    expect(await amounts()).toEqual([]);
    await tab.fill({ 'Order amount': '100' });
    await chooseCustomer('2', 'User 2');
    await addProduct('Product 4');
    await tab.click('Check');
    await expect.poll(verdict).toBe('Can be used unless the order has a coupon that can’t be combined.');
    await tab.page.getByRole('navigation').getByRole('link', { name: 'Coupons' }).click();
    await tab.link('Check a coupon').click();
    await expect.poll(() => tab.field('Code').inputValue()).toBe('');
    expect(await answer().count()).toBe(0);
  });

  it.each<[string, Record<string, unknown>, string, string, (() => Promise<void>)?]>([
    ['whose time has passed', { valid_till: '2002-01-01' }, 'Not expired', 'It expired on Tue 1 Jan 2002, 05:30.'],
    ['whose start is ahead', { starts_at: '2098-01-01' }, 'Has started', 'It starts on Wed 1 Jan 2098, 05:30.'],
    [
      'that is for nobody',
      { is_user_based: false },
      'Available',
      'No customers can use it yet. Edit it to choose who can.',
    ],
    ['for larger orders', { min_order: 500 }, 'Minimum order', 'Minimum order is 500: this order is 400 short.'],
    [
      ...(['that others have', {}, 'Customers', 'It isn’t for this customer.'] as const),
      async () => void (await stage.sql('update coupon_applicable_users set user_id = 1')),
    ],
    [
      ...(['for other products', {}, 'Products', 'None of its products is in this order.'] as const),
      async () => void (await stage.sql('update coupon_applicable_products set product_id = 5')),
    ],
    [
      ...([
        'beside which the order has another one',
        {},
        'Combinations',
        'The order has another coupon, and one of the two can’t be combined.',
      ] as const),
      async () => {
        await insertCoupon(stage.coupon, { coupon_code: 'OTHER' });
        await use('OTHER', 2, 'order-7');
      },
    ],
    [
      ...([
        'that the customer has used',
        {},
        'Uses per customer',
        'This customer has already used it 3 times, the most allowed.',
      ] as const),
      async () => {
        for (const key of ['a', 'b', 'c']) await use('SAVE10', 2, key);
      },
    ],
    [
      ...(['that others have used up', { max_uses: 1 }, 'Usage limit', 'Its only use is taken.'] as const),
      async () => {
        await stage.sql(
          'insert into coupon_applicable_users (coupon_id, user_id) select coupon_id, 1 from coupon_applicable_users',
        );
        await use('SAVE10', 1, 'a');
      },
    ],
  ])(
    'A coupon %s can’t be used: the verdict says why, and its condition has a cross',
    async (...[, columns, label, message, prepare]) => {
      await insertDemanding(columns);
      await prepare?.();
      await tab.open('/check?code=SAVE10&user=2&order=order-7');
      await addProduct('Product 4');
      await tab.field('Order amount').fill('100');
      await tab.click('Check');
      await answer().waitFor();
      await expect.poll(verdict).toBe(`Can’t be used ${message}`);
      expect(await conditions()).toContain(`Not met: ${label} ${message}`);
      expect(await answer().getByText('Can be used').count()).toBe(0);
    },
  );

  it('A code without a coupon and one that was left out are told, and the first leads to the list', async () => {
    await insertCoupon(stage.coupon, { is_invalidated: true });
    await tab.open('/check');
    await tab.click('Check', answer().getByText('Enter the code of the coupon.').first());
    await tab.field('Code').fill('NEVER');
    await tab.click('Check', answer().getByText(/^It was never created/));
    await tab.field('Code').fill('save10');
    await tab.click('Check', answer().getByText('It was invalidated.'));
    expect(await verdict()).toBe('Can’t be used No active coupon has this code.');
    expect(await conditions()).toEqual(['Not met: Code No active coupon has this code.']);
    await tab.link('Look for SAVE10 among the coupons').click();
    await row(tab, 'SAVE10').waitFor();
  });

  it('A condition that a coupon does not make is told as such, not as met by a customer or products that nobody gave', async () => {
    await insertCoupon(stage.coupon);
    await tab.open('/check?code=SAVE10');
    await tab.click('Check', answer());
    await expect
      .poll(conditions)
      .toEqual([
        'Met: Not expired No end date',
        'Met: Has started',
        'Met: Available',
        'Met: Minimum order No minimum',
        'Met: Customers Everyone can use it',
        'Met: Products All products',
        'Not checked: Combinations',
        'Met: Uses per customer No limit',
        'Met: Usage limit No limit',
      ]);
  });

  it('A reserved code is recognized: it leads to its claim or, once that is done, names the code to check', async () => {
    await stage.sql(
      `insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ('HUSH1', 'CODE1', 50, 1)`,
    );
    await tab.open('/check?code=hush1');
    await tab.click('Check', tab.link('This is a secret code. Claim it for a customer first.'));
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    await orders.claim({ secretCode: 'HUSH1', userId: 2 });
    await tab.click('Check', tab.link('This secret code was claimed. Check the code CODE1 instead.'));
    await tab.link(/^This secret code was claimed/).click();
    await row(tab, 'HUSH1').getByText('Claimed').waitFor();
  });

  it('The verdict goes as soon as anything else is entered, and comes back for what is checked', async () => {
    await insertCoupon(stage.coupon);
    await insertCoupon(stage.coupon, { coupon_code: 'HALF', discount_percent: 50 });
    await tab.open('/check');
    await check(tab, 'SAVE10', '100');
    await expect.poll(amounts).toEqual(['Discount 10.00', 'Order total after discount 90.00']);
    await tab.field('Code').fill('HALF');
    expect(await answer().count()).toBe(0);
    await tab.click('Check');
    await expect.poll(amounts).toEqual(['Discount 50.00', 'Order total after discount 50.00']);
    for (const [label, other, same] of [
      ['Order amount', '200', '100'],
      ['Order number', 'a', ''],
    ] as const) {
      await tab.field(label).fill(other);
      expect(await answer().count()).toBe(0);
      await tab.field(label).fill(same);
      await expect.poll(amounts).toEqual(['Discount 50.00', 'Order total after discount 50.00']);
    }
    await chooseCustomer('User 2', 'User 2');
    expect(await answer().count()).toBe(0);
  });

  it('A customer is found by name, by mobile number and by number', async () => {
    await stage.sql(`insert into users (id, name, mobile) values (8123, 'Zoya Khan', '9876543210')`);
    await tab.open('/check');
    for (const text of ['zoya', '98765 43210', '8123']) {
      await chooseCustomer(text, 'Zoya Khan');
      await tab.click('Customer: Zoya Khan');
      await tab.click('Not given');
    }
  });

  it('The verdict is not shown for a code that was typed before it arrived', async () => {
    await insertCoupon(stage.coupon);
    await tab.open('/check');
    const release = await tab.hold(/RedemptionService\/Check/);
    await check(tab, 'SAVE10', '100');
    await tab.button('Checking…').waitFor();
    await tab.field('Code').fill('HALF');
    release();
    await tab.button('Check').waitFor();
    expect(await answer().count()).toBe(0);
  });

  it('The same check again judges the coupon as it is by then', async () => {
    await insertCoupon(stage.coupon);
    await tab.open('/check');
    await check(tab, 'SAVE10', '100');
    await expect.poll(amounts).toEqual(['Discount 10.00', 'Order total after discount 90.00']);
    await stage.sql('update coupons set discount_percent = 20');
    await tab.click('Check');
    await expect.poll(amounts).toEqual(['Discount 20.00', 'Order total after discount 80.00']);
  });

  it('What is wrong is told at its field, by the page or by the service, without a verdict', async () => {
    await insertCoupon(stage.coupon);
    await use('SAVE10', 1, 'order-9');
    await tab.open('/check?user=2');
    await check(tab, 'SAVE10', '1.500');
    await problemAt(tab, 'Order amount', 'Write 1500 or 1.5: this may mean either.').waitFor();
    await tab.fill({ 'Order amount': '1500,50', 'Order number': 'ordér' });
    await tab.click('Check');
    await problemAt(tab, 'Order number', 'Enter at most 128 letters from a to z, digits and signs.').waitFor();
    await tab.field('Order number').fill('order-9');
    await tab.click('Check');
    await problemAt(tab, 'Order number', "This order is another user's").waitFor();
    expect(await answer().count()).toBe(0);
    await tab.fill({ Code: 'X'.repeat(129), 'Order number': '' });
    await tab.click('Check', tab.page.locator('.field', { has: tab.field('Code') }).getByText(/128/));
    expect(await answer().count()).toBe(0);
  });

  it('Products count without amounts, too; amounts have to be there for all or for none of them, and a line can be taken away', async () => {
    const id = await insertCoupon(stage.coupon);
    await stage.sql(`insert into coupon_applicable_products (coupon_id, product_id) values (${id}, 4)`);
    await tab.open('/check?code=SAVE10');
    await tab.field('Order amount').fill('100');
    await addProduct('Product 4');
    await tab.click('Check');
    await expect.poll(amounts).toEqual(['Discount 10.00', 'Order total after discount 90.00']);
    await answer().getByText('This is off the whole order.').waitFor();
    await addProduct('Product 5', 'Another product: none');
    await tab.field('Amount: Product 4').fill('30');
    await tab.click('Check');
    const both = 'Enter an amount for every product, or for none.';
    await problemAt(tab, 'Amount: Product 5', both).waitFor();
    await tab.field('Amount: Product 5').fill('700');
    await tab.click('Check', tab.text('The products come to more than the order.').first());
    await tab.click('Go back');
    await tab.field('Amount: Product 5').fill('70');
    await tab.click('Check');
    await expect.poll(amounts).toEqual(['Discount 3.00', 'Order total after discount 97.00']);
    expect(await answer().getByText('This is off the whole order.').count()).toBe(0);
    await tab.click('Product: Product 4');
    await tab.click('None');
    await tab.click(
      'Check',
      answer()
        .getByText(/^None of its products is in this order/)
        .first(),
    );
  });

  it('A use that an order only holds is no use: the verdict names the order and until when, and leads to it', async () => {
    await insertCoupon(stage.coupon, { coupon_code: 'ONCE', max_limit_for_user: 1 });
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    const order = { userId: 2, orderKey: 'order-1001', orderAmount: 250, productIds: [4], holdSeconds: 900 };
    expect(await orders.redeem({ code: 'ONCE', ...order })).toMatchObject({ valid: true });
    await tab.open('/users/2');
    await tab.page.locator('main').getByRole('link', { name: 'Check a coupon' }).click();
    await tab.button('Customer: User 2').waitFor();
    await check(tab, 'ONCE', '100');
    await expect
      .poll(verdict)
      .toMatch(/Held by order .?order-1001.? until .*, \d\d:\d\d\. It can be used again then\.$/);
    await answer()
      .getByRole('link', { name: /Open order/ })
      .waitFor();
    await stage.sql(`update redemptions set state = 'USED', used_at = now(), held_until = null`);
    await tab.click('Check');
    await expect.poll(verdict).toContain('This customer has already used it.');
  });

  it('The page of a coupon and that of a customer lead to it, with what they know filled in', async () => {
    const id = await insertCoupon(stage.coupon);
    await tab.open(`/coupons/${id}`);
    await tab.follow('Check', 'Check a coupon');
    expect(await tab.field('Code').inputValue()).toBe('SAVE10');
    // The code is known, so the order is asked for first.
    await expect.poll(() => tab.page.locator(':focus').getAttribute('name')).toBe('orderAmount');
    await tab.page.goto(`${stage.origin}/users/2`);
    await tab.page.locator('main').getByRole('link', { name: 'Check a coupon' }).click();
    await tab.button('Customer: User 2').waitFor();
  });
});

describeConsole(
  'The amounts of a business with a currency',
  (stage, tab) => {
    it('Amounts have its sign and two digits in the list, on the coupon, in the checker, a refund and a coupon by phone', async () => {
      await stage.sql(
        `insert into orders (id, user_id, total_amount) values (42, 2, 1896.8);
         insert into order_statuses (order_id) values (42)`,
      );
      await insertCoupon(stage.coupon, { discount_percent: null, flat_discount: 150, min_order: 1896.8 });
      await tab.open('/coupons');
      const cells = async () => (await row(tab, 'SAVE10').getByRole('cell').allInnerTexts()).slice(1, 3);
      await expect.poll(cells).toEqual(['₹150', '₹1,896.80']);
      await tab.link('SAVE10').click();
      for (const text of ['₹150', '₹1,896.80']) await tab.section('Terms').getByText(text, { exact: true }).waitFor();
      await tab.link('Check').click();
      await check(tab, 'SAVE10', '2000');
      const expected = ['Discount ₹150.00', 'Order total after discount ₹1,850.00'];
      await expect.poll(() => factsOf(tab)).toEqual(expected);
      await tab.page.goto(`${stage.origin}/coupons/refund?order=42`);
      await tab.click('Find order', tab.exactly('₹1,896.80'));
      await tab.click('Create refund coupon');
      await tab.text('₹1,896.80 off, on orders of ₹1,896.80 or more, once each, until').waitFor();
      await tab.page.goto(`${stage.origin}/coupons/phone?mobile=9000000002`);
      await tab.text('gets 20% off one order of ₹1,000 or more, up to ₹500, for 90 days').waitFor();
      await tab.click('Create coupon');
      await tab.exactly('20% off, up to ₹500, on orders of ₹1,000 or more, once each.').waitFor();
    });
  },
  { BUSINESS_CURRENCY: 'INR' },
);
