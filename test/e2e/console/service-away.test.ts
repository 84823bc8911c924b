import { expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('A service that does not answer', (stage, tab) => {
  stage.prepare(
    `update product_groups set name = 'Fruit' where id = 1;
       insert into slots (id, delivery_time, freeze_time, group_ids)
       values (7, now() + interval '1 hour', now() + interval '50 minutes', '{1}')`,
  );

  const waiting = () => tab.text('This is taking longer than usual.');
  /** Gives up, and is told so. */
  const stopWaiting = async () => {
    await waiting().waitFor();
    await tab.click('Stop waiting', tab.text('You stopped waiting'));
  };

  it('A page that waits for five seconds says so, not before, and staff can give up and try again', async () => {
    // Notes what is shown, however shortly.
    const initScript = `globalThis.shown = [];
      new MutationObserver(() => shown.push(document.body?.innerText)).observe(document, { childList: true, subtree: true });`;
    await tab.open('/users', { initScript });
    await tab.page.route(/GetAll/, (route) => void setTimeout(() => void route.continue(), 2_000));
    await tab.link('Coupons').click();
    await tab.text('No coupons yet.').waitFor();
    expect(String(await tab.page.evaluate('shown.join()'))).not.toContain('has not answered');
    await tab.page.route(/ListSlots/, () => undefined);
    await tab.link('Slots').click();
    await stopWaiting();
    expect(await waiting().count()).toBe(0);
    await tab.page.unroute(/ListSlots/);
    await tab.click('Try again', tab.link(/Slot 7$/));
  });

  it('A new slot whose answer does not come is created once, by the first press or by the next', async () => {
    const count = async () => (await stage.sql('select from slots')).length;
    const before = await count();
    await tab.open('/slots/new');
    let isDone = false;
    await tab.page.route(/CreateSlot/, async (route) => {
      // The service has done it; its answer does not arrive.
      await route.fetch();
      isDone = true;
    });
    await tab.time('Delivery time').fill('2090-05-01T10:00');
    await tab.pick('Products', 'Product 4');
    await tab.click('Create slot');
    await stopWaiting();
    expect(await tab.time('Delivery time').inputValue()).toBe('2090-05-01T10:00');
    expect(isDone).toBe(true);
    await tab.page.unroute(/CreateSlot/);
    await tab.click('Create slot', tab.notice('Slot created successfully'));
    expect(await count()).toBe(before + 1);
  });

  it('The names of groups come back by themselves after an outage of slot-service', async () => {
    await tab.open('/users');
    let failed = 0;
    tab.page.on('requestfailed', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/ListProductGroups')) failed += 1;
    });
    await stage.slot.restart(async () => {
      await tab.link('Slots').click();
      await tab.text('The service can’t be reached').waitFor();
      // It has been tried again three times, and is not any more.
      await expect.poll(() => failed).toBe(4);
    });
    await tab.link(/Slot 7$/).waitFor();
    await tab.text('Fruit').first().waitFor();
  });
});
