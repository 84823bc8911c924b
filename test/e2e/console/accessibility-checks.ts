import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { colleague } from './clients.ts';
import type { ConsoleTab } from './console-tab.ts';
import { describeConsole } from './stage.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What is asked of every page, on one device. */
export function describeAccessibility(name: string, device: BrowserContextOptions): void {
  describeConsole('Everybody can use', (stage) => {
    beforeAll(async () => {
      await stage.sql(
        `insert into slots (id, delivery_time, freeze_time, group_ids, is_capacity_full, delivery_sequence)
       select n, now() + n * interval '5 hours', now() + n * interval '4 hours', '{1, 2}', n % 3 = 0, '{"1": [5, 7]}'
       from generate_series(1, 12) n;
       update slots set is_active = false where id = 12;
       insert into product_slots select s, p from generate_series(1, 12) s, generate_series(1, 9) p;
       insert into vendor_snippets (snippet_code, slot_id, product_ids)
       values ('a-snippet-with-a-name-that-is-too-long-for-a-line-of-a-phone', 1, '{1, 2, 3}')`,
      );
      await stage.sql(
        `insert into coupons (id, coupon_code, discount_percent, max_value, min_order, is_user_based, is_apply_for_all, created_by)
       select n, 'COUPON-' || n, 10, 150, 500, n % 2 = 0, n % 2 = 1, 1 from generate_series(1, 12) n;
       insert into coupon_applicable_users (coupon_id, user_id) select 2, n from generate_series(1, 5) n;
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by)
       select 'SECRET-' || n, 'RESERVED-' || n, 50, 1 from generate_series(1, 5) n;
       insert into orders (id, user_id, total_amount) values (77, 1, 250);
       insert into coupon_batches (id, name, count, created_by) values (7, 'Spring letters', 12, 1);
       update coupons set batch_id = 7;
       insert into redemptions (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
       select n, 2, 1, 'an-order-with-a-name-that-is-too-long-for-a-line-of-a-phone-' || n, 600, 60, 'USED', now(), now()
       from generate_series(1, 5) n;
       insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, before, after)
       values (now(), 'slot.v1.SlotService/UpdateSlot', 'staff-1', 'r', 'slot', 1, '{"isActive": false}', '{"isActive": true}')`,
      );
    });

    /** What axe-core finds, in words. */
    async function barriers(page: Page): Promise<string[]> {
      await page.evaluate(axe);
      // What the component library announces lasts for a moment, and may outlive the button that it names.
      const { violations } = await page.evaluate<AxeResults>(`axe.run({ exclude: ['[data-live-announcer]'] })`);
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join('; ')}`);
    }

    /** By how many pixels the page is wider than its window. */
    const overflow = (page: Page) =>
      page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

    async function check(tab: ConsoleTab): Promise<void> {
      // A dialog that is just opening does not yet hide what is behind it.
      await expect.poll(() => barriers(tab.page)).toEqual([]);
      expect(await overflow(tab.page)).toBe(0);
      await tab.close();
    }

    const edit = async (tab: ConsoleTab, button: string) => {
      await tab.button(button).click();
      await tab.button('Cancel').waitFor();
    };
    const chooseFirst = (tab: ConsoleTab) =>
      tab.page
        .getByRole('checkbox', { name: /^Choose slot/ })
        .first()
        .click();
    /** The pages, each with what it is waited for, and what is opened on it. */
    const pages: readonly (readonly [string, string, RegExp, ((tab: ConsoleTab) => Promise<void>)?])[] = [
      ['the calendar', '/slots', /Mark full/],
      ['a day of the calendar', '/slots?span=day', /Show the week/],
      [
        'the chosen slots',
        '/slots',
        /Mark full/,
        async (tab) => {
          await chooseFirst(tab);
          await tab.page.getByRole('toolbar', { name: 'The chosen slots' }).waitFor();
        },
      ],
      [
        'the question where slots are moved',
        '/slots',
        /Mark full/,
        async (tab) => {
          await chooseFirst(tab);
          await tab.button('Move…').click();
          await tab.field('Days later').waitFor();
        },
      ],
      [
        'the preview of a copy',
        '/slots',
        /Copy this week/,
        async (tab) => {
          await tab.button('Copy this week to…').click();
          await tab
            .text(/will be made/)
            .first()
            .waitFor();
        },
      ],
      ['a run sheet', '/slots/sheets?slot=1', /Print/],
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
      [
        'a problem at a field',
        '/coupons/new',
        /Create/,
        async (tab) => {
          await tab.button('Create coupon').click();
          await tab.text('Enter a percentage, such as 10.').waitFor();
        },
      ],
      [
        'a question about a mistake',
        '/slots/new',
        /Create slot/,
        async (tab) => {
          await tab.field('Delivery time').fill('2020-05-01T10:00');
          await tab.button('Create slot').click();
          await tab.button('Correct it').waitFor();
        },
      ],
      [
        'a contradiction',
        '/slots/10',
        /Change products/,
        async (tab) => {
          await edit(tab, 'Edit times and groups');
          const slots = await colleague(stage.slot, SlotService, 2);
          await slots.updateSlot({ id: 10, deliveryTime: '2030-01-01T10:00:00Z', freezeTime: '2030-01-01T08:00:00Z' });
          await tab.field('Orders close').fill('2020-05-01T10:00');
          await tab.button('Save').click();
          await tab.button('Save all the same').click();
          await tab.heading(/Somebody else has changed/).waitFor();
        },
      ],
      [
        'a sequence as JSON',
        '/slots/1',
        /Copy link/,
        async (tab) => {
          await edit(tab, 'Change the sequence');
          await tab.text('Advanced: the sequence as JSON').click();
          await tab.field('As JSON').waitFor();
        },
      ],
      ['the calendar with deactivated slots', '/slots?deactivated=shown', /Mark full/],
      ['a deactivated slot', '/slots/12', /Activate again/],
      ['the list of what is deactivated', '/slots/list?state=deactivated&from=any', /Save as CSV/],
      [
        'the choice of a product for a filter',
        '/slots/list',
        /Mark full/,
        async (tab) => {
          await tab.button('Product: any').click();
          await tab.page.getByRole('row', { name: 'Product 4', exact: true }).waitFor();
        },
      ],
      ['a list that is empty', '/coupons?search=nothing-has-this', /Sign out/],
      [
        'the search for everything',
        '/coupons',
        /Save as CSV/,
        async (tab) => {
          await tab.press('Control+k');
          await tab.page.getByRole('searchbox', { name: 'Search everything' }).fill('coupon-1');
          await tab.page.getByRole('menuitem', { name: 'COUPON-11' }).waitFor();
        },
      ],
      [
        'what a list may be filtered by',
        '/coupons',
        /Save as CSV/,
        async (tab) => {
          await tab.page.locator('.field', { hasText: 'State' }).getByRole('button').click();
          await tab.page.getByRole('option', { name: 'Expired' }).waitFor();
        },
      ],
      ['a user', '/users/1', /Save as CSV/],
      [
        'the order of a refund',
        '/coupons/refund?order=77',
        /Show the order/,
        async (tab) => {
          await tab.button('Show the order').click();
          await tab.button('Create refund coupon').waitFor();
        },
      ],
      [
        'a coupon that was issued',
        '/coupons/phone?mobile=9000000001',
        /Create coupon/,
        async (tab) => {
          await tab.button('Create coupon').click();
          await tab.button('Coupon for another number').waitFor();
        },
      ],
      [
        'a verdict',
        '/check?code=COUPON-1',
        /Check/,
        async (tab) => {
          await tab.field('Order amount').fill('600');
          await tab.button('Check').click();
          await tab.text('Can be used').waitFor();
        },
      ],
      [
        'a refusal',
        '/check?code=NONE',
        /Check/,
        async (tab) => {
          await tab.field('Order amount').fill('600');
          await tab.button('Check').click();
          await tab.text('Can’t be used').waitFor();
        },
      ],
      [
        'a service that does not answer',
        '/users',
        /Sign out/,
        async (tab) => {
          await tab.page.route(/GetUsersMiniInfo/, () => undefined);
          await tab.field('Search by name or mobile number').fill('somebody');
          await tab.button('Stop waiting').waitFor();
        },
      ],
      [
        'a change in full',
        '/audit',
        /Save as CSV/,
        async (tab) => {
          await tab.text('More about this change').first().click();
          await tab.text('Request id').first().waitFor();
        },
      ],
      ['the coupons', '/coupons', /Sign out/],
      ['a coupon', '/coupons/2', /Invalidate/],
      [
        'the release of a redemption',
        '/coupons/2',
        /Release…: redemption 5/,
        async (tab) => {
          await tab.button('Release…: redemption 5').click();
          await tab.field('Reason').waitFor();
        },
      ],
      ['the edit of a coupon', '/coupons/2/edit', /Save/],
      ['a new coupon', '/coupons/new', /Create/],
      ['the reserved coupons', '/coupons/reserved', /Sign out/],
      [
        'the claim of a reserved coupon',
        '/coupons/reserved',
        /Claim for…: SECRET-1/,
        async (tab) => {
          await tab.button('Claim for…: SECRET-1').click();
          await tab.page.getByRole('row', { name: 'User 4', exact: true }).waitFor();
        },
      ],
      [
        'a coupon that was claimed',
        '/coupons/reserved',
        /Claim for…: SECRET-2/,
        async (tab) => {
          await tab.button('Claim for…: SECRET-2').click();
          await tab.pick('User', 'User 4');
          await tab.button('Claim').click();
          await tab.link('Open the coupon').waitFor();
        },
      ],
      ['the batches', '/coupons/batches', /Save as CSV/],
      ['a batch', '/coupons/batches/7', /End the batch/],
      [
        'the question before a batch is ended',
        '/coupons/batches/7',
        /End the batch/,
        async (tab) => {
          await tab.button('End the batch').click();
          await tab.button('Keep it').waitFor();
        },
      ],
      ['a new batch', '/coupons/batches/new', /Make the codes/],
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
        await expect.poll(() => tab.text(/^Loading/).count()).toBe(0);
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
