import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What is asked of every page, on one device. */
export function describeAccessibility(name: string, device: BrowserContextOptions): void {
  describeInBrowser('Everybody can use', () => {
    let stage: ConsoleStage;

    beforeAll(async () => {
      stage = await ConsoleStage.open();
      await stage.slot.database.sql(
        `insert into slots (id, delivery_time, freeze_time, group_ids, is_capacity_full, delivery_sequence)
       select n, now() + n * interval '5 hours', now() + n * interval '4 hours', '{1, 2}', n % 3 = 0, '{"1": [5, 7]}'
       from generate_series(1, 12) n;
       insert into product_slots select s, p from generate_series(1, 12) s, generate_series(1, 9) p;
       insert into vendor_snippets (snippet_code, slot_id, product_ids)
       values ('a-snippet-with-a-name-that-is-too-long-for-a-line-of-a-phone', 1, '{1, 2, 3}')`,
      );
      await stage.coupon.database.sql(
        `insert into coupons (id, coupon_code, discount_percent, max_value, min_order, is_user_based, is_apply_for_all, created_by)
       select n, 'COUPON-' || n, 10, 150, 500, n % 2 = 0, n % 2 = 1, 1 from generate_series(1, 12) n;
       insert into coupon_applicable_users (coupon_id, user_id) select 2, n from generate_series(1, 5) n;
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by)
       select 'SECRET-' || n, 'RESERVED-' || n, 50, 1 from generate_series(1, 5) n`,
      );
    });

    afterAll(() => stage.close());

    /** What axe-core finds that keeps people out, in words. */
    async function barriers(page: Page): Promise<string[]> {
      await page.evaluate(axe);
      const { violations } = await page.evaluate<AxeResults>('axe.run()');
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join('; ')}`);
    }

    /** By how many pixels the page is wider than its window. */
    const overflow = (page: Page) =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

    async function check(tab: ConsoleTab): Promise<void> {
      expect(await barriers(tab.page)).toEqual([]);
      expect(await overflow(tab.page)).toBe(0);
      await tab.close();
    }

    const edit = async (tab: ConsoleTab, button: string) => {
      await tab.button(button).click();
      await tab.button('Cancel').waitFor();
    };
    /** The pages, each with what it is waited for, and what is opened on it. */
    const pages: readonly (readonly [string, string, RegExp, ((tab: ConsoleTab) => Promise<void>)?])[] = [
      ['the board', '/slots', /Mark full/],
      ['the list of slots', '/slots/list', /Mark full/],
      ['a slot', '/slots/1', /Copy link/],
      ['the times of a slot', '/slots/1', /Copy link/, (tab) => edit(tab, 'Edit times and groups')],
      ['the products of a slot', '/slots/1', /Copy link/, (tab) => edit(tab, 'Change products')],
      ['a new snippet', '/slots/1', /Copy link/, (tab) => edit(tab, 'Add a snippet')],
      ['the sequence of a slot', '/slots/1', /Copy link/, (tab) => edit(tab, 'Change the sequence')],
      ['a new slot', '/slots/new', /Create slot/],
      [
        'the question before leaving',
        '/slots/new',
        /Create slot/,
        async (tab) => {
          await tab.field('Delivery time').fill('2090-05-01T10:00');
          await tab.link('Coupons').click();
          await tab.button('Stay here').waitFor();
        },
      ],
      [
        'a notice',
        '/slots/9',
        /Copy|Change products/,
        async (tab) => {
          await tab.button(/slot 9$/).click();
          await tab.notice('Slot 9').waitFor();
        },
      ],
      ['the coupons', '/coupons', /Sign out/],
      ['a coupon', '/coupons/2', /Invalidate/],
      ['the edit of a coupon', '/coupons/2/edit', /Save/],
      ['a new coupon', '/coupons/new', /Create/],
      ['the reserved coupons', '/coupons/reserved', /Sign out/],
      ['a new reserved coupon', '/coupons/reserved/new', /Create/],
      ['a refund', '/coupons/refund', /Show the order/],
      ['a coupon by phone', '/coupons/phone', /coupon/],
      ['the checker', '/check', /Check/],
      ['the users', '/users', /Sign out/],
      ['what is live', '/live', /Sign out/],
      ['the audit trail', '/audit', /Sign out/],
      ['an address without a page', '/nowhere', /Sign out/],
    ];

    it.each(pages.map((page) => [page[0], page] as const))(
      `Everybody can use %s ${name}`,
      async (_name, [, path, button, open]) => {
        const tab = await stage.openTab({ path, ...device });
        await tab.button(button).first().waitFor();
        await tab.page.waitForLoadState('load');
        await expect.poll(() => tab.page.getByText(/^Loading/).count()).toBe(0);
        await open?.(tab);
        await check(tab);
      },
    );

    it(`Everybody can sign in ${name}`, async () => {
      const tab = await stage.openTab({ token: '', ...device });
      await tab.button('Sign in').waitFor();
      await check(tab);
    });
  });
}
