import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { colleague } from './clients.ts';
import { describeConsole, tomorrow } from './stage.ts';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const longKey = 'an-order-with-a-name-that-is-too-long-for-a-line-of-a-phone-';

/** What is asked of every page, on one device. */
export function describeAccessibility(name: string, device: BrowserContextOptions): void {
  describeConsole('Everybody can use', (stage, tab) => {
    stage.prepare(
      `insert into slots (id, delivery_time, freeze_time, group_ids, is_capacity_full, delivery_sequence)
       select n, now() + n * interval '5 hours', now() + n * interval '4 hours', '{1, 2}', n % 3 = 0, '{"1": [5, 7]}'
       from generate_series(1, 12) n;
       update slots set is_active = false where id = 12;
       insert into product_slots select s, p from generate_series(1, 12) s, generate_series(1, 9) p;
       insert into vendor_snippets (snippet_code, slot_id, product_ids)
       values ('a-snippet-with-a-name-that-is-too-long-for-a-line-of-a-phone', 1, '{1, 2, 3}');
       insert into coupons (id, coupon_code, discount_percent, max_value, min_order, is_user_based, is_apply_for_all, created_by)
       select n, 'COUPON-' || n, 10, 150, 500, n % 2 = 0, n % 2 = 1, 1 from generate_series(1, 12) n;
       insert into coupon_applicable_users (coupon_id, user_id) select 2, n from generate_series(1, 5) n;
       insert into reserved_coupons (secret_code, coupon_code, flat_discount, created_by)
       select 'SECRET-' || n, 'RESERVED-' || n, 50, 1 from generate_series(1, 5) n;
       insert into orders (id, user_id, total_amount) values (77, 1, 250);
       insert into coupon_batches (id, name, count, created_by) values (7, repeat('letters-', 16), 12, 1);
       update coupons set batch_id = 7 where id > 6;
       update coupons set coupon_code = repeat('LONG', 30) where id = 3;
       insert into redemptions (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
       select n, 2, 1, '${longKey}' || n, 600, 60, 'USED', now(), now()
       from generate_series(1, 5) n;
       insert into slot_bookings (slot_id, order_key, user_id, units, state, created_at, booked_at)
       values (1, '${longKey}5', 1, 3, 'BOOKED', now(), now());
       insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, before, after)
       values (now(), 'slot.v1.SlotService/UpdateSlot', 'staff-1', 'r', 'slot', 1, '{"isActive": false}', '{"isActive": true}')`,
    );

    /** What axe-core finds, in words. */
    async function barriers(): Promise<string[]> {
      await tab.page.evaluate(axe);
      // What the component library announces lasts for a moment, and may outlive the button that it names.
      const { violations } = await tab.page.evaluate<AxeResults>(`axe.run({ exclude: ['[data-live-announcer]'] })`);
      return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join('; ')}`);
    }

    async function check(): Promise<void> {
      // A dialog that is just opening does not yet hide what is behind it.
      await expect.poll(barriers).toEqual([]);
      // Without the width of a scrollbar.
      const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await tab.page.evaluate(beyond)).toBe(0);
    }

    type Open = () => Promise<unknown>;
    /** Presses one button after the other, and waits for what a button, heading, row or link that then comes is named. */
    const press =
      (names: readonly string[], role: Parameters<Page['getByRole']>[0], name: string | RegExp): Open =>
      async () => {
        for (const each of names) await tab.button(each).click();
        await tab.page.getByRole(role, { name }).first().waitFor();
      };
    const edit = (button: string) => press([button], 'button', 'Cancel');
    const chooseFirst = async () => {
      const boxes = tab.page.getByRole('checkbox', { name: /^Select Slot/ });
      await boxes.first().click();
      await tab.page.getByRole('toolbar', { name: 'Actions for the selection' }).waitFor();
    };
    const contradict = async () => {
      await tab.click('Edit times and groups');
      const slots = await colleague(stage.slot, SlotService, 2);
      await slots.updateSlot({ id: 10, deliveryTime: '2030-01-01T10:00:00Z', freezeTime: '2030-01-01T08:00:00Z' });
      await tab.time('Orders close').fill('2020-05-01T10:00');
      await press(['Save', 'Save anyway'], 'heading', /Someone else changed/)();
    };
    const search =
      (text: string, found: string): Open =>
      async () => {
        await tab.press('Control+k');
        await tab.page.getByRole('searchbox', { name: 'Search everything' }).fill(text);
        await tab.text(found).first().waitFor();
      };
    const check600 =
      (verdict: string): Open =>
      async () => {
        await tab.field('Order amount').fill('600');
        await tab.click('Check', tab.text(verdict));
      };
    const enterDelivery =
      (time: string, next: Open): Open =>
      async () => {
        await tab.time('Delivery time').fill(time);
        await next();
      };
    const leave = async () => {
      await tab.page.locator('.brand').filter({ visible: true }).click();
      await tab.button('Stay here').waitFor();
    };
    const waitInVain = async () => {
      await tab.page.route(/GetUsersMiniInfo/, () => undefined);
      await tab.field('Search by name or mobile number').fill('somebody');
      await tab.button('Stop waiting').waitFor();
    };
    const unfold =
      (text: string, inside: string): Open =>
      async () => {
        await tab.text(text).first().click();
        await tab.text(inside).first().waitFor();
      };
    const sequenceAsJson = async () => {
      await edit('Edit delivery sequence')();
      await unfold('Advanced: the sequence as JSON', 'As JSON')();
    };
    const claim = async () => {
      await tab.click('Claim for… SECRET-2');
      await tab.pick('Customer', 'User 4');
      await tab.click('Claim', tab.link('Open coupon'));
    };
    const selectCoupon = async () => {
      await tab.page.getByRole('checkbox').nth(1).click();
      await tab.text('1 selected').waitFor();
    };
    const extendCoupon = async () => {
      await selectCoupon();
      await tab.click('Extend…', tab.field('New end'));
    };
    const openStates = async () => {
      await tab.page.locator('.field', { hasText: 'State' }).getByRole('button').click();
      await tab.page.getByRole('option', { name: 'Expired' }).waitFor();
    };
    const openDay = async () => {
      await tab
        .button(/: actions$/)
        .first()
        .click();
      await tab.page.getByRole('menuitem', { name: 'Show this day' }).waitFor();
    };
    const openFirst = async () => {
      await tab.page.locator('.slot-card a').first().click();
      await tab.link('Open page').waitFor();
    };
    const setCapacity = async () => {
      await chooseFirst();
      await tab.click('Capacity…', tab.field('Capacity'));
    };
    const move = async () => {
      await chooseFirst();
      await tab.click('Move to…', tab.field('New start'));
    };

    /** The pages, each with a button that is waited for, and what is opened on it. */
    const pages: readonly (readonly [name: string, path: string, button: RegExp, open?: Open])[] = [
      ['the overview', '/', /Show as table/],
      ['the table of the overview', '/', /Show as table/, press(['Show as table'], 'button', 'Show as chart')],
      ['the calendar', '/slots', /Copy this/],
      ['a day of the calendar', `/slots?span=day&day=${tomorrow}`, /Copy this/],
      ['the actions of a day', '/slots', /Copy this/, openDay],
      ['a slot beside the calendar', '/slots', /Copy this/, openFirst],
      ['the selected slots', '/slots', /Copy this/, chooseFirst],
      ['the question where slots are moved', '/slots', /Copy this/, move],
      ['the capacity of several slots', '/slots', /Copy this/, setCapacity],
      ['the preview of a copy', '/slots', /Copy this/, press(['Copy this week to…'], 'button', /^Create \d/)],
      ['a run sheet', '/slots/sheets?slot=1', /Print/],
      ['the list of slots', '/slots/list', /Export CSV/],
      ['a slot', '/slots/1', /Copy link/],
      ['the times of a slot', '/slots/1', /Copy link/, edit('Edit times and groups')],
      ['the capacity of a slot', '/slots/1', /Copy link/, edit('Edit capacity')],
      [
        ...(['the move of a booking', '/slots/1', /^Move… order/] as const),
        press([`Move… order ${longKey}5`], 'button', 'Move booking'),
      ],
      [
        ...(['the cancellation of a booking', '/slots/1', /^Move… order/] as const),
        press([`Cancel… order ${longKey}5`], 'textbox', 'Reason'),
      ],
      ['the products of a slot', '/slots/1', /Copy link/, edit('Edit products')],
      ['a new snippet', '/slots/1', /Copy link/, edit('Add snippet')],
      ['the sequence of a slot', '/slots/1', /Copy link/, edit('Edit delivery sequence')],
      ['a new slot', '/slots/new', /Create slot/],
      ['the question before leaving', '/slots/new', /Create slot/, enterDelivery('2090-05-01T10:00', leave)],
      ['a notice', '/slots/9', /Edit products/, () => tab.click(/slot 9$/, tab.notice('Slot 9'))],
      ['a problem at a field', '/coupons/new', /Create/, () => tab.click(/Create/, tab.text('Enter a percentage'))],
      [
        ...(['a question about a mistake', '/slots/new', /Create slot/] as const),
        enterDelivery('2020-05-01T10:00', press(['Create slot'], 'button', 'Go back')),
      ],
      ['a contradiction', '/slots/10', /Edit products/, contradict],
      ['a sequence as JSON', '/slots/1', /Copy link/, sequenceAsJson],
      ['the calendar with deactivated slots', '/slots?deactivated=shown', /Copy this/],
      ['a deactivated slot', '/slots/12', /Run sheet|More actions/],
      ['the list of what is deactivated', '/slots/list?state=deactivated&from=any', /Export CSV/],
      ['the choice of a product', '/slots/list', /Export CSV/, press(['Product: any'], 'row', 'Product 4')],
      ['a list that is empty', '/coupons?search=nothing-has-this', /^(Menu|Sign out)$/],
      ['the search for everything', '/coupons', /Export CSV/, search('coupon-1', 'COUPON-11')],
      ['a search that finds nothing', '/coupons', /Export CSV/, search('no such thing', 'Nothing found.')],
      ['what a list may be filtered by', '/coupons', /Export CSV/, openStates],
      ['a customer', '/users/1', /Export CSV/],
      [
        ...(['the order of a refund', '/coupons/refund?order=77', /Find order/] as const),
        press(['Find order'], 'button', 'Create refund coupon'),
      ],
      [
        ...(['a coupon that was issued', '/coupons/phone?mobile=9000000001', /Create coupon/] as const),
        press(['Create coupon'], 'button', 'Coupon for another number'),
      ],
      ['a verdict', '/check?code=COUPON-1&user=1&order=a', /Check/, check600('Can be used')],
      ['a verdict that is not certain', '/check?code=COUPON-2', /Check/, check600('Not certain yet')],
      ['a refusal', '/check?code=NONE', /Check/, check600('Can’t be used')],
      ['a service that does not answer', '/users', /Export CSV/, waitInVain],
      ['a change in full', '/audit', /Export CSV/, unfold('Details', 'Request ID')],
      ['the coupons', '/coupons', /^(Menu|Sign out)$/],
      ['coupons that are selected', '/coupons', /Export CSV/, selectCoupon],
      ['a new end of coupons', '/coupons', /Export CSV/, extendCoupon],
      ['a batch that is opened among the coupons', '/coupons', /Export CSV/, unfold('12 codes', 'Open batch')],
      ['a reserved code that is checked', '/check?code=SECRET-1', /Check/, check600('This is a secret code')],
      ['a coupon', '/coupons/2', /Copy code/],
      [
        ...(['the return of a use', '/coupons/2', /^Return use…/] as const),
        press([`Return use… of order ${longKey}5`], 'textbox', 'Reason'),
      ],
      ['the edit of a coupon', '/coupons/2/edit', /Save/],
      ['a new coupon', '/coupons/new', /Create/],
      ['the reserved coupons', '/coupons/reserved', /^(Menu|Sign out)$/],
      ['the claim of a coupon', '/coupons/reserved', /SECRET-1/, press(['Claim for… SECRET-1'], 'row', 'User 4')],
      ['a coupon that was claimed', '/coupons/reserved', /SECRET-2/, claim],
      ['the batches', '/coupons/batches', /Export CSV/],
      ['a batch', '/coupons/batches/7', /End batch/],
      ['the end of a batch', '/coupons/batches/7', /End batch/, press(['End batch'], 'button', 'Go back')],
      ['a new batch', '/coupons/batches/new', /Create batch/],
      ['a new reserved coupon', '/coupons/reserved/new', /Create/],
      ['a refund', '/coupons/refund', /Find order/],
      ['a coupon by phone', '/coupons/phone', /coupon/],
      ['the checker', '/check', /Check/],
      ['an order', `/orders?key=${longKey}5`, /^Return use…/],
      ['the customers', '/users', /Export CSV/],
      ['the storefront', '/live', /^(Menu|Sign out)$/],
      ['the audit trail', '/audit', /^(Menu|Sign out)$/],
      ['an address without a page', '/nowhere', /^(Menu|Sign out)$/],
    ];

    it.each(pages.map((page) => [page[0], page] as const))(
      `Everybody can use %s ${name}`,
      async (_name, [, path, button, open]) => {
        await tab.open(path, device);
        await tab.button(button).filter({ visible: true }).first().waitFor();
        await tab.page.waitForLoadState('load');
        await expect.poll(() => tab.text(/^Loading/).count()).toBe(0);
        await open?.();
        await check();
      },
    );

    it(`Everybody can sign in ${name}`, async () => {
      await tab.open('/slots', { token: '', ...device });
      await tab.button('Sign in').waitFor();
      await check();
    });
  });
}
