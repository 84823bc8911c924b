import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describePages } from '../clients/clients.ts';
import { signToken } from '../support/tokens.ts';
import { describeInBrowser, launchBrowser } from './browser.ts';
import type { CallingPage } from './calling-page.ts';
import { protocols } from './page-calls.ts';
import { Stage } from './stage.ts';

const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };

describeInBrowser('Pages of other origins', () => {
  let stage: Stage;
  let page: CallingPage;

  beforeAll(async () => {
    stage = await Stage.open();
  });

  afterAll(() => stage.close());

  // The console shows that all procedures work from a page, over Connect with POST. These are for what differs by the protocol.
  describe('that are allowed', () => {
    let token: string;

    beforeAll(async () => {
      token = await signToken({ staffId: 1 });
    });

    describePages(launchBrowser, () => ({ ...stage.slot, token }));

    it.each(protocols)(
      'A page reads the stores with the write that it has just made, and calls coupon-service, over %s',
      async (protocol) => {
        page = await stage.openPage();
        const body = { ...times, productIds: [7, 8] };
        const { headers = {} } = await page.call(protocol, stage.slot, 'slot.v1.SlotService/CreateSlot', body);
        const sent = { 'store-request-id': headers['store-request-id'] ?? 'not exposed' };
        const stores = await page.call(protocol, stage.slot, 'slot.v1.SlotStoreService/GetOpenSlots', {}, sent);
        const [slot] = await stage.slot.database.sql<{ id: number }>('select max(id) as id from slots');
        const shown = expect.objectContaining({ id: slot?.id, productIds: [7, 8] });
        expect(stores.message).toMatchObject({ slots: expect.arrayContaining([shown]) });
        const request = { code: 'none', orderAmount: 200 };
        const { message } = await page.call(protocol, stage.coupon, 'coupon.v1.CouponService/Validate', request);
        expect(message).toMatchObject({ message: 'Coupon not found or invalidated' });
        await page.close();
      },
    );
  });

  const calls = () => [...stage.slot.log, ...stage.coupon.log].filter(({ msg }) => msg === 'call');
  const refused = { error: { message: 'Failed to fetch', reason: '', fields: [] } };

  it.each(protocols)('A page of an origin that is not allowed can neither read nor write over %s', async (protocol) => {
    page = await stage.openForeignPage();
    const { slot, coupon } = stage;
    const before = calls();
    const vendorSnippets = [{ name: protocol, productIds: [1] }];
    const body = { couponCode: protocol, discountPercent: 10, isApplyForAll: true };
    expect(await page.call(protocol, slot, 'slot.v1.SlotService/GetAll')).toEqual(refused);
    expect(await page.call(protocol, slot, 'slot.v1.SlotService/CreateSlot', { ...times, vendorSnippets })).toEqual(
      refused,
    );
    expect(await page.call(protocol, coupon, 'coupon.v1.CouponService/Create', { coupon: body })).toEqual(refused);
    expect(await slot.database.sql('select from vendor_snippets where snippet_code = $1', [protocol])).toEqual([]);
    expect(await coupon.database.sql('select from coupons where coupon_code = $1', [protocol])).toEqual([]);
    // The preflights were refused, so no call began.
    expect(calls()).toEqual(before);
    await page.close();
  });

  it('A page reads by GET with its token what it has just written by POST, and no read comes from a cache', async () => {
    page = await stage.openPage();
    const sent: string[] = [];
    page.page.on('request', (request) => {
      if (request.url().includes('SlotService')) sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    const call = (name: string, request = {}) =>
      page.call('Connect with GET', stage.slot, `slot.v1.SlotService/${name}`, request);
    const answer = page.page.waitForResponse(/GetAll/);
    const before = calls().length;
    for (const made of [1, 2]) {
      await call('CreateSlot', times);
      const { message } = await call('GetAll');
      expect(message).toMatchObject({ slots: expect.arrayContaining([expect.objectContaining(times)]) });
      expect(calls()).toHaveLength(before + 2 * made);
    }
    expect((await (await answer).allHeaders())['cache-control']).toBe('no-store');
    const expected = ['POST /slot.v1.SlotService/CreateSlot', 'GET /slot.v1.SlotService/GetAll'];
    expect(sent).toEqual([...expected, ...expected]);
    await page.close();
  });
});
