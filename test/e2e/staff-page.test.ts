import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signToken } from '../support/tokens.ts';
import { describeInBrowser } from './browser.ts';
import { expectText, type StaffPage } from './staff-page.ts';
import { Stage } from './stage.ts';

describeInBrowser('The staff page on another origin', () => {
  let stage: Stage;
  let token: string;

  beforeAll(async () => {
    [stage, token] = await Promise.all([Stage.open(), signToken({ staffId: 1 })]);
  });

  afterAll(() => stage.close());

  describe.each(['Connect', 'gRPC-Web'])('over %s', (protocol) => {
    let page: StaffPage;
    const code = (name: string) => `${name}-${protocol.replace(/\W+/g, '-')}`.toUpperCase();

    beforeEach(async () => {
      page = await stage.openPage();
      await page.logIn(protocol, token);
      await expectText(page.status).toBe('Logged in');
      return () => page.close();
    });

    /** Creates a slot with one snippet, and returns its id. */
    async function createSlot(snippet: string, products: string): Promise<number> {
      await page.createSlot({ products, snippets: `${snippet}: 1` });
      await expectText(page.status).toBe(`Slot created successfully, ${snippet}`);
      const [row] = await stage.slot.database.sql<{ slot_id: number }>(
        'select slot_id from vendor_snippets where snippet_code = $1',
        [snippet],
      );
      return row?.slot_id ?? 0;
    }

    it('Staff log in with a token, and see when it is refused', async () => {
      await page.logIn(protocol, await signToken({ staffId: 1, key: 'another secret of thirty-two bytes or more' }));
      await expectText(page.alert).toBe('Authentication required');
      await page.logIn(protocol, token);
      await expectText(page.status).toBe('Logged in');
      await expectText(page.alert).toBe('');
    });

    it('Staff create a slot with snippets', async () => {
      const [morning, evening] = [code('morning'), code('evening')];
      await page.createSlot({ snippets: `${morning}: 1, 2\n${evening}: 3` });
      await expectText(page.status).toBe(`Slot created successfully, ${morning}, ${evening}`);
      const rows = await stage.slot.database.sql(
        `select snippet_code, vendor_snippets.product_ids, delivery_time, freeze_time
           from vendor_snippets join slots on slots.id = slot_id
          where snippet_code = any($1) order by vendor_snippets.product_ids`,
        [[morning, evening]],
      );
      const times = {
        delivery_time: new Date('2090-05-01T10:00:00Z'),
        freeze_time: new Date('2090-05-01T06:30:00Z'),
      };
      expect(rows).toEqual([
        { snippet_code: morning, product_ids: [1, 2], ...times },
        { snippet_code: evening, product_ids: [3], ...times },
      ]);
    });

    it('Staff see a slot with its products', async () => {
      const id = await createSlot(code('listed'), '4, 5');
      const slot = `Slot ${id}, 2090-05-01T10:00:00.000Z, Product 4, Product 5 Mark full`;
      await expectText(page.items('Slots').filter({ hasText: `Slot ${id},` })).toBe(slot);
    });

    it('Staff mark a slot as full', async () => {
      const id = await createSlot(code('full'), '6');
      const slot = page.items('Slots').filter({ hasText: `Slot ${id},` });
      await slot.getByRole('button', { name: 'Mark full' }).click();
      await expectText(page.status).toBe('Slot marked as full capacity');
      await expectText(slot).toBe(`Slot ${id}, 2090-05-01T10:00:00.000Z, Product 6, full`);
      const rows = await stage.slot.database.sql('select is_capacity_full from slots where id = $1', [id]);
      expect(rows).toEqual([{ is_capacity_full: true }]);
    });

    it('Staff create a coupon, and see the discount that it gives', async () => {
      await page.fill('Code', code('spring'));
      await page.fill('Percent', '12.5');
      await page.press('Create coupon');
      await expectText(page.status).toBe(`Coupon ${code('spring')} created`);
      const rows = await stage.coupon.database.sql(
        'select discount_percent, created_by from coupons where coupon_code = $1',
        [code('spring')],
      );
      expect(rows).toEqual([{ discount_percent: '12.5', created_by: 1 }]);
      await page.fill('Coupon', code('spring').toLowerCase());
      await page.fill('Order amount', '200');
      await page.press('Validate');
      await expectText(page.status).toBe('Discount 25');
      await page.fill('Coupon', 'NO-SUCH-COUPON');
      await page.press('Validate');
      await expectText(page.status).toBe('Coupon not found or invalidated');
    });

    it('Staff see which field was refused, and nothing is written', async () => {
      await page.createSlot({ snippets: `${code('kept-out')}: 1\n${code('refused')}: 2, 0` });
      const refused = page.alert.getByRole('listitem');
      await expectText(refused).toBe('vendor_snippets[1].product_ids[1] must be greater than 0');
      const rows = await stage.slot.database.sql('select from vendor_snippets where snippet_code = $1', [
        code('kept-out'),
      ]);
      expect(rows).toEqual([]);
    });
  });
});
