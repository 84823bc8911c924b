import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { alterAnswer } from './altered-answer.ts';
import { type ConsoleStage, describeConsole, type StageTab } from './stage.ts';

/** A time zone of the business in which it is between 12:00 and 13:00, whatever the hour of the test. */
const hour = new Date().getUTCHours() - 12;
const timeZone = `Etc/GMT${hour < 0 ? hour : `+${hour}`}`;
/** Noon of today there. */
const noon = `((now() at time zone '${timeZone}')::date + time '12:00') at time zone '${timeZone}'`;

/** Runs in the page before its own scripts: `tick()` lets 15 s pass for what is read again every 15 s. */
const ticks = `
  const due = new Map();
  const { setInterval: set, clearInterval: clear } = window;
  window.setInterval = (run, ms, ...rest) => {
    const id = set(run, ms, ...rest);
    if (ms === 15_000) due.set(id, run);
    return id;
  };
  window.clearInterval = (id) => {
    due.delete(id);
    clear(id);
  };
  window.tick = () => [...due.values()].forEach((run) => run());`;

const tests = (stage: ConsoleStage, tab: StageTab) => {
  // Slots 1 to 3 are delivered at the end of today, slot 4 tomorrow.
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time, capacity, is_capacity_full)
     values (1, ${noon} + interval '11 h 57 min', now() + interval '50 min', 40, false),
       (2, ${noon} + interval '11 h 58 min', ${noon} - interval '1 day', 10, true),
       (3, ${noon} + interval '11 h 59 min', now() + interval '5 h', null, false),
       (4, ${noon} + interval '1 day', now() + interval '5 h', 20, false);
     insert into slot_bookings (slot_id, order_key, user_id, units, state, held_until, created_at, booked_at)
     values (1, 'a', 1, 18, 'BOOKED', null, now(), now()), (1, 'b', 1, 4, 'HELD', now() + interval '1 day', now(), null),
       (4, 'c', 1, 5, 'BOOKED', null, now(), now());
     insert into coupons (id, coupon_code, discount_percent, is_user_based, is_apply_for_all, created_by, max_uses, valid_till)
     values (7, 'FEW', 10, false, true, 1, 10, now() + interval '2 days 1 hour'),
       (8, 'LATER', 10, false, true, 1, null, now() + interval '9 days');
     insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
     select 7, 1, 'today-' || n, 500, 50.25, 'USED', ${noon}, ${noon} from generate_series(1, 3) n;
     insert into redemptions (coupon_id, user_id, order_key, order_amount, discount_amount, state, created_at, used_at)
     select 7, 1, 'yesterday-' || n, 500, 20, 'USED', at, at
     from generate_series(1, 6) n, (select ${noon} - interval '1 day' as at) as yesterday;
     insert into audit_entries (at, procedure, subject, staff_id, request_id, resource_type, resource_id, before, after)
     select now() - n * interval '1 minute', case when n % 2 = 0 then 'slot.v1.SlotService/DeleteSlot' else 'coupon.v1.CouponService/Delete' end,
       'staff-1', 1, 'r', case when n % 2 = 0 then 'slot' else 'coupon' end, n, '{}', '{}'
     from generate_series(1, 12) n`,
  );

  const tile = (name: string) => tab.section(name);
  const textOf = async (name: string) => (await tile(name).innerText()).split(/\s*\n\s*/);

  it('It tells what is booked today, what closes soon, what coupons gave today and yesterday, and what needs a person', async () => {
    await tab.open('/');
    await tab.heading('Overview').waitFor();
    await expect.poll(() => textOf('Booked for today')).toEqual(['Booked for today', '22 of 50', '1 full · 4 held']);
    await tile('Booked for today').getByRole('img', { name: '22 of 50 booked, 4 of them held' }).waitFor();
    expect(await textOf('Closing within 2 hours')).toEqual([
      'Closing within 2 hours',
      '1',
      expect.stringMatching(/ in 50 min$/),
    ]);
    const used = ['Coupons used today', '3 · 150.75', 'Yesterday 6 · 120.00'];
    await expect.poll(() => textOf('Coupons used today')).toEqual(used);
    expect(await textOf('Needs attention')).toEqual(['Needs attention', '1', 'FEW: 1 use left']);
    const ending = tab.section('Ending this week');
    await ending.getByText(/ · in 2 d 1 h$/).waitFor();
    expect(await ending.getByRole('listitem').allInnerTexts()).toEqual([expect.stringMatching(/^FEW 1 use left/)]);
    await ending.getByRole('link', { name: 'FEW' }).click();
    await tab.heading('Coupon FEW').waitFor();
  });

  it('It lists the slots of today and tomorrow with their bookings and when orders close, and each leads to its slot', async () => {
    await tab.open('/');
    const rows = tab.section('Today and tomorrow').getByRole('row');
    await expect.poll(() => rows.count()).toBe(5);
    const cells = await Promise.all([1, 2, 3, 4].map((at) => rows.nth(at).getByRole('cell').allInnerTexts()));
    expect(cells).toEqual([
      ['22/40', expect.stringMatching(/^Open Orders close in/)],
      ['0/10', 'Closed Orders closed'],
      ['No limit', expect.stringMatching(/^Open Orders close in [45] h/)],
      ['5/20', expect.stringMatching(/^Open Orders close in [45] h/)],
    ]);
    await rows.nth(1).getByRole('img', { name: '22 of 40 booked' }).waitFor();
    await rows.getByRole('link', { name: /^Tomorrow 12:00/ }).click();
    await tab.page.waitForURL('**/slots/4');
  });

  it('It lists the last ten changes of both services, newest first, each with its record', async () => {
    await tab.open('/');
    const changes = tab.section('Latest changes').getByRole('listitem');
    await expect.poll(() => changes.count()).toBe(10);
    const [first, second] = await changes.allInnerTexts();
    expect([first, second]).toEqual([
      expect.stringMatching(/invalidated coupon 1\s/),
      expect.stringMatching(/deactivated \w+ \d+ \w+, 23:58\s/),
    ]);
    await changes.getByRole('link', { name: /, 23:58$/ }).click();
    await tab.page.waitForURL('**/slots/2');
  });

  it('Each service is asked once for its overview, and nothing is asked while the tab is hidden', async () => {
    const asked: string[] = [];
    await tab.open('/users', { initScript: ticks });
    tab.page.on('request', (request) => {
      const [procedure] = /(SlotPlan|Redemption)Service\/\w+$/.exec(request.url()) ?? [];
      if (request.method() === 'POST' && procedure !== undefined) asked.push(procedure);
    });
    await tab.link('Overview').click();
    await tab.text('3 · 150.75').waitFor();
    await tab.section('Today and tomorrow').getByRole('row').nth(4).waitFor();
    const once = ['RedemptionService/GetOverview', 'SlotPlanService/GetOverview', 'SlotPlanService/ListSlots'];
    expect(asked.toSorted()).toEqual(once);
    await tab.page.evaluate('tick()');
    await expect.poll(() => asked.toSorted()).toEqual([...once, ...once.slice(0, 2)].toSorted());
    await tab.page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
      document.dispatchEvent(new Event('visibilitychange'))`);
    await tab.page.evaluate('tick()');
    // A call of the tick would have been sent before this one.
    await tab.page.evaluate(`fetch('/healthz')`);
    expect(asked).toHaveLength(5);
  });

  it('The chart tells the day that is pointed at, and its table has every day', async () => {
    await tab.open('/');
    const chart = tab.section('Coupon uses, last 30 days');
    await chart.getByText('9 uses').waitFor();
    await chart.getByText('270.75 in discounts').waitFor();
    const canvas = chart.locator('.u-over');
    await canvas.waitFor();
    expect(await chart.locator('[aria-hidden=true] canvas').count()).toBe(1);
    const { width = 0, height = 0 } = (await canvas.boundingBox()) ?? {};
    await canvas.hover({ position: { x: width - 4, y: height / 2 } });
    await chart.getByText('150.75 in discounts').waitFor();
    const days = chart.getByRole('row');
    expect(await days.count()).toBe(31);
    expect(await days.nth(2).getByRole('cell').allInnerTexts()).toEqual(['6', '120.00']);
    await tab.click('Show as table', tab.button('Show as chart'));
    await canvas.waitFor({ state: 'detached' });
    await expect.poll(async () => (await chart.getByRole('table').boundingBox())?.width).toBeGreaterThan(300);
  });

  it('Changes of the theme and of the window’s width draw the chart anew', async () => {
    await tab.open('/');
    const canvas = tab.page.locator('.plot canvas');
    await canvas.waitFor();
    const picture = () => tab.page.evaluate(`document.querySelector('.plot canvas').toDataURL()`);
    const light = await picture();
    await tab.page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(picture).not.toBe(light);
    const wide = (await canvas.boundingBox())?.width ?? 0;
    await tab.page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(async () => (await canvas.boundingBox())?.width ?? wide).toBeLessThan(350);
    expect(await tab.overflow()).toBe(0);
  });

  it.each([
    ['coupon-service', 'coupon', 'Coupons used today', '22 of 50'],
    ['slot-service', 'slot', 'Booked for today', '3 · 150.75'],
  ] as const)('While %s is away, its half says so, and the other one works', async (_name, service, ofIt, ofOther) => {
    await stage[service].restart(async () => {
      await tab.open('/');
      await tab.exactly(ofOther).waitFor();
      await expect.poll(() => textOf(ofIt)).toEqual([ofIt, 'Not available']);
      await tab.text('The service can’t be reached').first().waitFor();
      const changes = tab.section('Latest changes').getByRole('listitem');
      await expect.poll(() => changes.count()).toBe(6);
    });
    await tab.button('Try again').first().waitFor({ state: 'detached' });
    await tab.exactly('22 of 50').waitFor();
    await tab.exactly('3 · 150.75').waitFor();
  });

  it('Webhooks that are late need a person, and so does a storefront that stays behind, but not at once', async () => {
    const late = timestampFromMs(Date.now() - 12.5 * 60_000);
    await tab.open('/users', { initScript: ticks });
    await alterAnswer(tab, SlotPlanService.method.getOverview, (answer) => {
      Object.assign(answer, { unsentEntries: 340, oldestUnsentAt: late, pendingRequests: 3 });
    });
    await alterAnswer(tab, RedemptionService.method.getOverview, (answer) => {
      Object.assign(answer, { nearlyUsedUp: [] });
    });
    await tab.link('Overview').click();
    const webhooks = 'Webhooks are 13 min behind (340 changes)';
    await expect.poll(() => textOf('Needs attention')).toEqual(['Needs attention', '1', webhooks]);
    await tab.page.evaluate('tick()');
    const storefront = 'The storefront does not show 3 changes yet';
    await expect.poll(() => textOf('Needs attention')).toEqual(['Needs attention', '2', webhooks, storefront]);
  });
};

describeConsole('The overview', tests, { BUSINESS_TIME_ZONE: timeZone });

describeConsole('The overview of a new business', (_stage, tab) => {
  it('It says what to do first', async () => {
    await tab.open('/');
    await tab.text('Customers can order as soon as there is a slot.').waitFor();
    await tab.text('No coupon ends within 7 days').waitFor();
    await tab.text('Nothing has been changed yet.').waitFor();
    expect(await tab.page.locator('canvas').count()).toBe(0);
    await tab.follow('New coupon', 'New coupon');
    await tab.page.goBack();
    await tab.follow('New slot', 'New slot');
  });
});
