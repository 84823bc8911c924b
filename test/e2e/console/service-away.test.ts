import type { Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('A service that does not answer', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
    await stage.slot.database.sql(
      `update product_groups set name = 'Fruit' where id = 1;
       insert into slots (id, delivery_time, freeze_time, group_ids)
       values (7, now() + interval '1 hour', now() + interval '50 minutes', '{1}')`,
    );
  });

  afterEach(async () => {
    await tab.page.unrouteAll({ behavior: 'ignoreErrors' });
    await tab.close();
  });

  afterAll(() => stage.close());

  const waiting = () => tab.page.getByText('The service has not answered for 5 seconds.');
  const never = (_route: Route) => undefined;

  it('A page that waits for five seconds says so, and staff can give up and try again', async () => {
    tab = await stage.openTab({ path: '/users' });
    await tab.page.route(/ListSlots/, never);
    await tab.link('Slots').click();
    await waiting().waitFor();
    await tab.button('Stop waiting').click();
    await tab.page.getByText('You have stopped waiting').waitFor();
    expect(await waiting().count()).toBe(0);
    await tab.page.unroute(/ListSlots/);
    await tab.button('Try again').click();
    await tab.link(/Slot 7$/).waitFor();
  });

  it('A save that waits can be given up, keeps what was entered, and is done once by the next press', async () => {
    tab = await stage.openTab({ path: '/slots/7' });
    await tab.button('Change products').click();
    await tab.pick('Products', 'Product 4');
    await tab.page.route(/UpdateSlotProducts/, never);
    await tab.button('Save').click();
    await waiting().waitFor();
    await tab.button('Stop waiting').click();
    await tab.page.getByText('You have stopped waiting').waitFor();
    await tab.button('Remove Product 4').waitFor();
    await tab.page.unroute(/UpdateSlotProducts/);
    await tab.button('Save').click();
    await tab.notice('1 added, 0 removed').waitFor();
  });

  it('The names of groups that could not be read come back by themselves', async () => {
    tab = await stage.openTab({ path: '/users' });
    let isAway = true;
    await tab.page.route(/CatalogService/, (route) => (isAway ? route.abort('connectionrefused') : route.continue()));
    await tab.link('Slots').click();
    await tab.page.getByText('Group 1', { exact: true }).waitFor();
    await stage.slot.restart();
    isAway = false;
    await tab.page.getByText('Fruit', { exact: true }).waitFor();
  });
});
