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

    type Step = (tab: ConsoleTab) => Promise<unknown>;
    const press =
      (name: string | RegExp): Step =>
      (tab) =>
        tab.button(name).first().click();
    const fill =
      (label: string, text: string): Step =>
      (tab) =>
        tab.field(label).fill(text);
    const seesButton =
      (name: string | RegExp): Step =>
      (tab) =>
        tab.button(name).first().waitFor();
    const seesField =
      (label: string): Step =>
      (tab) =>
        tab.field(label).waitFor();
    const seesText =
      (text: string | RegExp): Step =>
      (tab) =>
        tab.text(text).first().waitFor();
    const sees =
      (...role: Parameters<Page['getByRole']>): Step =>
      (tab) =>
        tab.page.getByRole(...role).waitFor();
    const edit = (button: string): readonly Step[] => [press(button), seesButton('Cancel')];
    const chooseFirst: Step = (tab) =>
      tab.page
        .getByRole('checkbox', { name: /^Choose slot/ })
        .first()
        .click();
    const changeMeanwhile: Step = async () => {
      const slots = await colleague(stage.slot, SlotService, 2);
      await slots.updateSlot({ id: 10, deliveryTime: '2030-01-01T10:00:00Z', freezeTime: '2030-01-01T08:00:00Z' });
    };
    const search: Step = async (tab) => {
      await tab.press('Control+k');
      await tab.page.getByRole('searchbox', { name: 'Search everything' }).fill('coupon-1');
    };
    const noMatch: Step = (tab) => tab.page.getByRole('searchbox', { name: 'Search everything' }).fill('no such thing');
    const leave: Step = (tab) => tab.link('Coupons').click();
    const never: Step = (tab) => tab.page.route(/GetUsersMiniInfo/, () => undefined);
    const openState: Step = (tab) => tab.page.locator('.field', { hasText: 'State' }).getByRole('button').click();
    const claim: readonly Step[] = [(tab) => tab.pick('User', 'User 4'), press('Claim')];
    const unfold =
      (text: string): Step =>
      (tab) =>
        tab.text(text).first().click();

    /** The pages, each with a button that is waited for, and the steps that open something on it. */
    const pages: readonly (readonly [name: string, path: string, button: RegExp, ...steps: readonly Step[]])[] = [
      ['the calendar', '/slots', /Mark full/],
      ['a day of the calendar', '/slots?span=day', /Show the week/],
      ['the chosen slots', '/slots', /Mark full/, chooseFirst, sees('toolbar', { name: 'The chosen slots' })],
      [
        'the question where slots are moved',
        '/slots',
        /Mark full/,
        chooseFirst,
        press('Move…'),
        seesField('Days later'),
      ],
      ['the preview of a copy', '/slots', /Copy this week/, press('Copy this week to…'), seesText(/will be made/)],
      ['a run sheet', '/slots/sheets?slot=1', /Print/],
      ['the list of slots', '/slots/list', /Mark full/],
      ['a slot', '/slots/1', /Copy link/],
      ['the times of a slot', '/slots/1', /Copy link/, ...edit('Edit times and groups')],
      ['the products of a slot', '/slots/1', /Copy link/, ...edit('Change products')],
      ['a new snippet', '/slots/1', /Copy link/, ...edit('Add a snippet')],
      ['the sequence of a slot', '/slots/1', /Copy link/, ...edit('Change the sequence')],
      ['a new slot', '/slots/new', /Create slot/],
      [
        ...(['the question before leaving', '/slots/new', /Create slot/] as const),
        ...[fill('Delivery time', '2090-05-01T10:00'), leave, seesButton('Stay here')],
      ],
      ['a notice', '/slots/9', /Copy|Change products/, press(/slot 9$/), (tab) => tab.notice('Slot 9').waitFor()],
      [
        'a problem at a field',
        '/coupons/new',
        /Create/,
        press('Create coupon'),
        seesText('Enter a percentage, such as'),
      ],
      [
        ...(['a question about a mistake', '/slots/new', /Create slot/] as const),
        ...[fill('Delivery time', '2020-05-01T10:00'), press('Create slot'), seesButton('Correct it')],
      ],
      [
        ...([
          'a contradiction',
          '/slots/10',
          /Change products/,
          ...edit('Edit times and groups'),
          changeMeanwhile,
        ] as const),
        ...[fill('Orders close', '2020-05-01T10:00'), press('Save'), press('Save all the same')],
        sees('heading', { name: /Somebody else has changed/ }),
      ],
      [
        ...(['a sequence as JSON', '/slots/1', /Copy link/, ...edit('Change the sequence')] as const),
        ...[unfold('Advanced: the sequence as JSON'), seesField('As JSON')],
      ],
      ['the calendar with deactivated slots', '/slots?deactivated=shown', /Mark full/],
      ['a deactivated slot', '/slots/12', /Activate again/],
      ['the list of what is deactivated', '/slots/list?state=deactivated&from=any', /Save as CSV/],
      [
        ...(['the choice of a product for a filter', '/slots/list', /Mark full/, press('Product: any')] as const),
        sees('row', { name: 'Product 4', exact: true }),
      ],
      ['a list that is empty', '/coupons?search=nothing-has-this', /Sign out/],
      ['the search for everything', '/coupons', /Save as CSV/, search, sees('menuitem', { name: 'COUPON-11' })],
      ['a search that finds nothing', '/coupons', /Save as CSV/, search, noMatch, seesText('Nothing found.')],
      ['what a list may be filtered by', '/coupons', /Save as CSV/, openState, sees('option', { name: 'Expired' })],
      ['a user', '/users/1', /Save as CSV/],
      [
        ...(['the order of a refund', '/coupons/refund?order=77', /Show the order/] as const),
        ...[press('Show the order'), seesButton('Create refund coupon')],
      ],
      [
        ...(['a coupon that was issued', '/coupons/phone?mobile=9000000001', /Create coupon/] as const),
        ...[press('Create coupon'), seesButton('Coupon for another number')],
      ],
      [
        ...(['a verdict', '/check?code=COUPON-1', /Check/] as const),
        ...[fill('Order amount', '600'), press('Check'), seesText('Can be used')],
      ],
      [
        ...(['a refusal', '/check?code=NONE', /Check/] as const),
        ...[fill('Order amount', '600'), press('Check'), seesText('Can’t be used')],
      ],
      [
        ...(['a service that does not answer', '/users', /Sign out/, never] as const),
        ...[fill('Search by name or mobile number', 'somebody'), seesButton('Stop waiting')],
      ],
      ['a change in full', '/audit', /Save as CSV/, unfold('More about this change'), seesText('Request id')],
      ['the coupons', '/coupons', /Sign out/],
      ['a coupon', '/coupons/2', /Invalidate/],
      [
        ...(['the release of a redemption', '/coupons/2', /Release…: redemption 5/] as const),
        ...[press('Release…: redemption 5'), seesField('Reason')],
      ],
      ['the edit of a coupon', '/coupons/2/edit', /Save/],
      ['a new coupon', '/coupons/new', /Create/],
      ['the reserved coupons', '/coupons/reserved', /Sign out/],
      [
        ...(['the claim of a reserved coupon', '/coupons/reserved', /Claim for…: SECRET-1/] as const),
        ...[press('Claim for…: SECRET-1'), sees('row', { name: 'User 4', exact: true })],
      ],
      [
        ...(['a coupon that was claimed', '/coupons/reserved', /Claim for…: SECRET-2/] as const),
        ...[press('Claim for…: SECRET-2'), ...claim, sees('link', { name: 'Open the coupon' })],
      ],
      ['the batches', '/coupons/batches', /Save as CSV/],
      ['a batch', '/coupons/batches/7', /End the batch/],
      [
        ...(['the question before a batch is ended', '/coupons/batches/7', /End the batch/] as const),
        ...[press('End the batch'), seesButton('Keep it')],
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
      async (_name, [, path, button, ...steps]) => {
        const tab = await stage.openTab({ path, ...device });
        await tab.button(button).first().waitFor();
        await tab.page.waitForLoadState('load');
        await expect.poll(() => tab.text(/^Loading/).count()).toBe(0);
        for (const step of steps) await step(tab);
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
