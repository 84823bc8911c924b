import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeInBrowser } from './browser.ts';
import type { CallingPage } from './calling-page.ts';
import { protocols } from './page-calls.ts';
import { Stage } from './stage.ts';

const times = { deliveryTime: '2090-05-01T10:00:00Z', freezeTime: '2090-05-01T06:30:00Z' };

// The console shows that all procedures work from a page, over Connect with POST. These are for what differs by the protocol.
describeInBrowser('A page on another origin', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open();
  });

  afterAll(() => stage.close());

  describe.each(protocols)('over %s', (protocol) => {
    let page: CallingPage;
    const code = (name: string) => `${name}-${protocol.replace(/\W+/g, '-')}`.toUpperCase();
    const createSlot = (request = {}, headers = {}) =>
      page.call(protocol, stage.slot, 'slot.v1.SlotService/CreateSlot', { ...times, ...request }, headers);

    beforeEach(async () => {
      page = await stage.openPage();
      return () => page.close();
    });

    it('A page on another origin reads the stores with the write that it has just made', async () => {
      const { headers = {} } = await createSlot({ productIds: [7, 8] });
      const [slot] = await stage.slot.database.sql<{ id: number }>('select max(id) as id from slots');
      const id = headers['store-request-id'] ?? 'not exposed';
      const { message } = await page.call(
        protocol,
        stage.slot,
        'slot.v1.SlotStoreService/GetOpenSlots',
        {},
        { 'store-request-id': id },
      );
      const shown = expect.objectContaining({ id: slot?.id, productIds: [7, 8] });
      expect(message).toMatchObject({ slots: expect.arrayContaining([shown]) });
    });

    it('A page on another origin sends a write again under its key, and sees that it was carried out before', async () => {
      const vendorSnippets = [{ name: code('once'), productIds: [1] }];
      const sent = { 'idempotency-key': code('key'), 'x-request-id': code('request') };
      const first = await createSlot({ vendorSnippets }, sent);
      const again = await createSlot({ vendorSnippets }, sent);
      expect(again.message).toEqual(first.message);
      expect(first.headers).not.toHaveProperty('idempotent-replayed');
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true', 'x-request-id': code('request') });
    });

    it('A page on another origin sees why a call was refused, and at which field', async () => {
      const { error } = await createSlot({ vendorSnippets: [{ name: code('refused'), productIds: [2, 0] }] });
      expect(error).toMatchObject({ reason: 'INVALID_REQUEST', fields: ['vendor_snippets[0].product_ids[1]'] });
    });

    it('A page on another origin calls coupon-service', async () => {
      await stage.coupon.database.sql(
        `insert into coupons (coupon_code, discount_percent, is_apply_for_all, created_by) values ($1, 12.5, true, 1)`,
        [code('spring')],
      );
      const request = { code: code('spring').toLowerCase(), orderAmount: 200 };
      const { message } = await page.call(protocol, stage.coupon, 'coupon.v1.CouponService/Validate', request);
      expect(message).toMatchObject({ valid: true, discountAmount: 25 });
    });

    it('A page on another origin watches the stores from the current version until it stops', async () => {
      const ended = () => stage.slot.log.filter(({ msg, method }) => msg === 'call' && /WatchStore$/.test(`${method}`));
      const before = ended().length;
      const watched = page.watch(protocol, stage.slot);
      await expect.poll(() => page.versions).toHaveLength(1);
      await createSlot();
      await expect.poll(() => page.versions.length).toBeGreaterThan(1);
      expect(page.versions).toEqual([...new Set(page.versions)].sort((a, b) => a - b));
      await page.stopWatching();
      await watched;
      await expect.poll(() => ended().slice(before)).toMatchObject([{ code: 'CANCELED' }]);
    });
  });
});
