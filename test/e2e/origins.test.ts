import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { signToken } from '../support/tokens.ts';
import { describeInBrowser } from './browser.ts';
import { expectText, type StaffPage } from './staff-page.ts';
import { Stage } from './stage.ts';

describeInBrowser('A page', () => {
  let stage: Stage;
  let token: string;
  let page: StaffPage;

  beforeAll(async () => {
    [stage, token] = await Promise.all([Stage.open(), signToken({ staffId: 1 })]);
  });

  afterEach(() => page.close());

  afterAll(() => stage.close());

  const calls = () => [...stage.slot.log, ...stage.coupon.log].filter(({ msg }) => msg === 'call');

  it.each(['Connect', 'Connect with GET', 'gRPC-Web'])(
    'whose origin is not allowed neither reads nor writes over %s',
    async (protocol) => {
      page = await stage.openForeignPage();
      const before = calls().length;
      await page.logIn(protocol, token);
      await expectText(page.alert).toBe('Failed to fetch');
      await page.createSlot({ snippets: 'foreign: 1' });
      await expectText(page.alert).toBe('Failed to fetch');
      await page.fill('Code', 'FOREIGN');
      await page.fill('Percent', '10');
      await page.press('Create coupon');
      await expectText(page.alert).toBe('Failed to fetch');
      const snippets = await stage.slot.database.sql("select from vendor_snippets where snippet_code = 'foreign'");
      const coupons = await stage.coupon.database.sql("select from coupons where coupon_code = 'FOREIGN'");
      expect([snippets, coupons, calls().slice(before)]).toEqual([[], [], []]);
    },
  );

  it('reads by GET with its token, each time anew', async () => {
    page = await stage.openPage();
    const sent: string[] = [];
    page.page.on('request', (request) => {
      if (request.url().includes('SlotService')) sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    const answer = page.page.waitForResponse(/GetAll/);
    await page.logIn('Connect with GET', token);
    expect((await (await answer).allHeaders())['cache-control']).toBe('no-store');
    await expectText(page.status).toBe('Logged in');
    const before = calls().length;
    for (const slots of [0, 1]) {
      await page.press('List slots');
      await expectText(page.status).toBe(`${slots} slots`);
      await stage.slot.database.sql('insert into slots (delivery_time, freeze_time) values (now(), now())');
    }
    await page.press('List slots');
    await expectText(page.status).toBe('2 slots');
    expect(calls().slice(before)).toHaveLength(3);
    expect(sent).toEqual(Array.from({ length: 4 }, () => 'GET /slot.v1.SlotService/GetAll'));
    await page.createSlot({});
    await expectText(page.status).toBe('Slot created successfully');
    expect(await page.items('Slots').count()).toBe(3);
    expect(sent.slice(4)).toEqual(['POST /slot.v1.SlotService/CreateSlot', 'GET /slot.v1.SlotService/GetAll']);
  });
});
