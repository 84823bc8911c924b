import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { signToken } from '../support/tokens.ts';
import { describeInBrowser } from './browser.ts';
import { expectText, type StaffPage } from './staff-page.ts';
import { Stage } from './stage.ts';

describeInBrowser('Pages of other origins', () => {
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
    'A page of an origin that is not allowed can neither read nor write over %s',
    async (protocol) => {
      page = await stage.openForeignPage();
      const before = calls();
      await page.logIn(protocol, token);
      await expectText(page.alert).toBe('Failed to fetch');
      await page.createSlot({ snippets: `${protocol}: 1` });
      await expectText(page.alert).toBe('Failed to fetch');
      await page.fill('Code', protocol);
      await page.fill('Percent', '10');
      await page.press('Create coupon');
      await expectText(page.alert).toBe('Failed to fetch');
      const { slot, coupon } = stage;
      expect(await slot.database.sql('select from vendor_snippets where snippet_code = $1', [protocol])).toEqual([]);
      expect(await coupon.database.sql('select from coupons where coupon_code = $1', [protocol])).toEqual([]);
      // The preflights were refused, so no call began.
      expect(calls()).toEqual(before);
    },
  );

  it('A page reads by GET with its token, and no read comes from a cache', async () => {
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
    const listed = await page.items('Slots').count();
    for (const added of [0, 1, 2]) {
      await page.press('List slots');
      await expectText(page.status).toBe(`${listed + added} slots`);
      expect(calls()).toHaveLength(before + added + 1);
      await stage.slot.database.sql('insert into slots (delivery_time, freeze_time) values (now(), now())');
    }
    expect(sent).toEqual(Array.from({ length: 4 }, () => 'GET /slot.v1.SlotService/GetAll'));
  });

  it('A page reads by GET what it has just written by POST', async () => {
    page = await stage.openPage();
    await page.logIn('Connect with GET', token);
    await expectText(page.status).toBe('Logged in');
    const listed = await page.items('Slots').count();
    const write = page.page.waitForRequest(/CreateSlot/);
    const read = page.page.waitForRequest(/GetAll/);
    await page.createSlot({});
    await expectText(page.status).toBe('Slot created successfully');
    expect([(await write).method(), (await read).method()]).toEqual(['POST', 'GET']);
    expect(await page.items('Slots').count()).toBe(listed + 1);
  });
});
