import { beforeAll, expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { colleague } from './clients.ts';
import { insertCoupon } from './coupon-steps.ts';
import { describeConsole } from './stage.ts';

describeConsole('The search for everything', (stage, tab) => {
  beforeAll(async () => {
    await stage.sql(
      `insert into slots (id, delivery_time, freeze_time)
       select n, now() + interval '2 days', now() + interval '1 day' from generate_series(7, 8) n;
       insert into product_slots values (7, 4);
       insert into vendor_snippets (snippet_code, slot_id, product_ids) values ('Morning-Run', 7, '{4}');
       insert into users (id, name, mobile) values (50, 'Zoya Khan', '9876543210');
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by) values ('HUSH1', 'X', 5, 1)`,
    );
    await insertCoupon(stage.coupon, { id: 77 });
    const orders = await colleague(stage.coupon, RedemptionService, 2);
    const order = { code: 'SAVE10', userId: 1, orderAmount: 100 };
    await orders.redeem({ ...order, orderKey: 'sum0-983423', holdSeconds: 0 });
    await orders.redeem({ ...order, orderKey: '983424' });
    const slots = await colleague(stage.slot, SlotBookingService, 2);
    await slots.book({ slotId: 7, orderKey: 'sum0-983423', userId: 1, units: 3 });
    await slots.book({ slotId: 8, orderKey: 'slot-only/7%', holdSeconds: 0 });
  });

  const field = () => tab.page.getByRole('searchbox', { name: 'Search everything' });
  const match = (name: string | RegExp) => tab.page.getByRole('menuitem', { name });
  const userField = () => tab.field('Search by name or mobile number');
  const closed = () => field().waitFor({ state: 'detached' });
  const open = async (path = '/users') => {
    await tab.open(path);
    await tab.button(/^Search/).waitFor();
  };
  const search = async (text: string, path = '/users') => {
    await open(path);
    await tab.click(/^Search/);
    await field().fill(text);
  };

  it('It finds slots, snippets, coupons, users, orders and pages by what staff know of them, or says that there is nothing', async () => {
    const slot = /^Slot 7.*Morning-Run/;
    await search('');
    for (const [text, name] of [
      ['7', /^Slot 7 \w{3} \d/],
      ['slot 7', /^Slot 7 \w{3} \d/],
      ['morning', slot],
      ['https://app.example/vendor-order-list?id=Morning-Run', slot],
      ['AVE10 ', /^SAVE10$/],
      ['hush', /^HUSH1.*reserved/],
      ['zoya', /^Zoya Khan/],
      ['98765 43210', /^Zoya Khan/],
      ['983424', /^Order 983424 coupon held$/],
      ['Order 983424', /^Order 983424 coupon held$/],
      ['order #983424', /^Order 983424 coupon held$/],
      ['slot-only/7%', /^Order slot-only\/7% slot booked$/],
      ['activity', /^Activity$/],
      ['batches', /^Batches$/],
    ] as const) {
      await field().fill(text);
      await match(name).waitFor();
    }
    await field().fill('781234');
    await tab.text('Nothing found.').waitFor();
    expect(await match(/781234/).count()).toBe(0);
  });

  it.each<[string, string, string | RegExp, RegExp]>([
    ['a slot', 'Morning-Run', /Slot 7.*Morning-Run/, /\/slots\/7$/],
    ['a coupon', 'save10', 'SAVE10', /\/coupons\/77$/],
    ['a reserved coupon', 'hush', /HUSH1.*reserved/, /\/coupons\/reserved\?search=HUSH1$/],
    ['an order', 'sum0-983423', /^Order sum0-983423 coupon used, slot held$/, /\/orders\?key=sum0-983423$/],
    ['the slots that have a product', 'product 4', 'Slots with Product 4', /\/slots\/list\?product=4$/],
    ['another page', 'activity', 'Activity', /\/audit$/],
  ])('It leads to %s', async (_what, text, name, address) => {
    await search(text);
    // Until the pages that do not match have gone, a match may move away from the pointer.
    await match('New slot').waitFor({ state: 'detached' });
    await match(name).click();
    await expect.poll(() => tab.page.url()).toMatch(address);
  });

  it('What a service that is away would have is told, and “Nothing found” only when every service answered', async () => {
    await open('/slots');
    await tab.failAt(/CouponService|RedemptionService/);
    await tab.click(/^Search/);
    await field().fill('morning');
    await match(/^Slot 7.*Morning-Run/).waitFor();
    const away = ['Coupons', 'Orders', 'Customers'].map((what) => `${what} can’t be searched now.`).join(' ');
    await tab.exactly(away).waitFor();
    await field().fill('no such thing');
    await tab.exactly(away).waitFor();
    expect(await tab.text('Nothing found.').count()).toBe(0);
  });

  it('An order is sought with one call to each service', async () => {
    await search('');
    const asked: string[] = [];
    tab.page.on('request', (request) => {
      const [procedure = ''] = /(?:Redemption|SlotBooking|Coupon)Service.*/.exec(request.url()) ?? [];
      if (request.method() === 'POST' && /Redemptions|Bookings|GetById/.test(procedure)) asked.push(procedure);
    });
    await field().fill('sum0-983423');
    await match(/^Order sum0-983423/).waitFor();
    expect(asked.toSorted()).toEqual(['RedemptionService/ListRedemptions', 'SlotBookingService/ListBookings']);
  });

  it('An order’s page lists its redemptions and bookings with their states, and leads to its coupon, its slot, its user and the check', async () => {
    await tab.open('/orders?key=sum0-983423');
    await tab.heading('Order sum0-983423').waitFor();
    const cells = (section: string) => tab.section(section).getByRole('row').nth(1).getByRole('cell').allInnerTexts();
    await expect
      .poll(async () => (await cells('Redemptions')).slice(0, 4))
      .toEqual(['User 1', '100.00', '10.00', expect.stringMatching(/^Used\n/)]);
    await tab.section('Redemptions').getByRole('rowheader', { name: 'SAVE10' }).waitFor();
    await expect
      .poll(async () => (await cells('Bookings')).slice(0, 2))
      .toEqual([expect.stringMatching(/^User 1/), '3']);
    await tab.section('Bookings').getByText('Held', { exact: true }).waitFor();
    await tab
      .section('Bookings')
      .getByRole('link', { name: /^\w+ \d+ \w+.*, \d\d:\d\d/ })
      .waitFor();
    await tab.page.locator('main').getByRole('link', { name: 'Check a coupon' }).click();
    await tab.button('Customer: User 1').waitFor();
    expect(await tab.field('Order number').inputValue()).toBe('sum0-983423');
    await tab.page.goto(`${stage.origin}/coupons/77`);
    await tab.section('Redemptions').getByRole('link', { name: '983424', exact: true }).click();
    await tab.heading('Order 983424').waitFor();
    await tab.text('No bookings yet.').waitFor();
    await tab.follow('SAVE10', 'Coupon SAVE10');
  });

  it('The history of an order’s booking is found where bookings are kept', async () => {
    const [booking] = await stage.sql(`select id from slot_bookings where slot_id = 7`);
    await tab.open(`/audit?type=booking&id=${Number(booking?.id)}`);
    await tab.text('held a slot with').first().waitFor();
  });

  it.each(['..', 'slot-only%2F7&?#+'])(
    'An order whose number has signs of addresses has its page, too: %s',
    async (key) => {
      await stage.sql('update slot_bookings set order_key = $1 where slot_id = 8', [key]);
      await search(key);
      await match(/^Order /).click();
      await tab.heading(`Order ${key}`).waitFor();
      await tab.section('Bookings').getByText('Booked', { exact: true }).waitFor();
      await tab.text('No redemptions yet.').waitFor();
    },
  );

  it('Letters that are typed before the field is there are not lost', async () => {
    await tab.open('/slots');
    await tab.button('Earlier').waitFor();
    await tab.press('Control+k', ...'987654');
    await expect.poll(() => field().inputValue()).toBe('987654');
  });

  it('The beginning of a mobile number, which no slot has, leads to its user at Enter', async () => {
    await search('');
    await field().pressSequentially('987654');
    await tab.press('Enter');
    await tab.heading('Zoya Khan').waitFor();
  });

  it('It finds the actions of the page, does the one that is chosen, and does nothing to a slot whose number is entered', async () => {
    await search('slot 8', '/slots/8');
    await expect.poll(() => tab.page.getByRole('menuitem').first().innerText()).toMatch(/^Slot 8/);
    await match(/^Mark full/).waitFor();
    await field().fill('mark');
    await match('Mark full: slot 8').click();
    await tab.notice('Slot marked as full capacity').waitFor();
    expect(await stage.sql('select id from slots where is_capacity_full')).toEqual([{ id: 8 }]);
  });

  it('Ctrl-K opens it from a field, and a slash outside of fields, in which a slash is text', async () => {
    await open();
    await userField().pressSequentially('a/b');
    expect(await userField().inputValue()).toBe('a/b');
    expect(await field().count()).toBe(0);
    await tab.press('Control+K');
    await field().waitFor();
    await tab.page.keyboard.type('a/7');
    expect(await field().inputValue()).toBe('a/7');
    expect(await userField().inputValue()).toBe('a/b');
    await tab.press('Escape');
    await closed();
    await tab.heading('Customers').click();
    await tab.press('/');
    await field().waitFor();
    expect(await field().inputValue()).toBe('');
  });

  it('Arrows go through the matches, and Enter chooses one', async () => {
    await search('product 1');
    await match(/Product 13/).waitFor();
    const focused = () => tab.page.locator('[role=menuitem][data-focused]').allInnerTexts();
    const [first, second] = await tab.page.getByRole('menuitem').allInnerTexts();
    await expect.poll(focused).toEqual([first]);
    await tab.press('ArrowDown');
    await expect.poll(focused).toEqual([second]);
    await tab.press('ArrowUp');
    await expect.poll(focused).toEqual([first]);
    await tab.press('ArrowDown', 'Enter');
    await tab.button('Product: Product 10').waitFor();
  });

  it('Enter waits for the matches, and never takes what an earlier text has found', async () => {
    await search('product 1');
    await expect.poll(() => field().getAttribute('aria-activedescendant')).not.toBeNull();
    await field().press('End');
    await field().pressSequentially('2');
    await tab.press('Enter');
    await tab.button('Product: Product 12').waitFor();
  });

  it('Escape closes it, also when something is typed, and gives the focus back to where it was', async () => {
    await open();
    await userField().focus();
    await tab.press('Control+K');
    await field().waitFor();
    await tab.press('Escape');
    await closed();
    const focused = `document.activeElement?.labels?.[0]?.innerText`;
    await expect.poll(() => tab.page.evaluate(focused)).toBe('Search by name or mobile number');
    await tab.click(/^Search/);
    await field().fill('zoya');
    await match(/Zoya Khan/).waitFor();
    await tab.press('Escape');
    await closed();
    await expect.poll(() => tab.page.locator(':focus').innerText()).toMatch(/^Search/);
  });
});
