import { beforeEach, expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

describeConsole('A connection that comes and goes', (stage, tab) => {
  stage.prepare(
    `insert into slots (id, delivery_time, freeze_time)
       values (7, '2090-05-01T10:00+05:30', '2090-05-01T06:30+05:30')`,
  );

  beforeEach(async () => {
    await tab.open('/slots/7');
    await tab.heading('Mon 1 May 2090, 10:00').waitFor();
  });

  const goOffline = async () => {
    await tab.page.context().setOffline(true);
    await tab.text(/You are offline/).waitFor();
  };
  const goOnline = () => tab.page.context().setOffline(false);

  it('What is saved while the device is offline is sent once it is online again', async () => {
    await tab.click('Edit times and groups');
    await goOffline();
    // At the end of the page, too, where the button is.
    await tab.page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const { y = -1 } = (await tab.text(/You are offline/).boundingBox()) ?? {};
    expect(await tab.page.evaluate<number>('scrollY')).toBeGreaterThan(100);
    expect(y).toBeGreaterThanOrEqual(0);
    await tab.time('Orders close').fill('2090-05-01T07:00');
    await tab.click('Save', tab.button('Saving…'));
    await goOnline();
    await tab.notice('Slot updated successfully').waitFor();
    await expect.poll(() => tab.text(/You are offline/).count()).toBe(0);
  });

  it('A coupon that is refused after its form was left is told, wherever staff are', async () => {
    await stage.sql(`insert into coupons (coupon_code, discount_percent, created_by) values ('TAKEN', 10, 1)`);
    await tab.page.goto(`${stage.origin}/coupons/new`);
    await tab.fill({ Code: 'TAKEN', 'Percent off': '10' });
    await tab.exactly('Everyone').click();
    await goOffline();
    await tab.click('Create coupon', tab.button('Saving…'));
    await tab.follow('Customers', 'This page needs a connection');
    await goOnline();
    await tab.notice('Your changes on the last page weren’t saved: Coupon code already exists').waitFor();
  });

  it('While a form waits to be sent, nothing in it can be changed', async () => {
    await tab.click('Edit times and groups');
    await tab.time('Orders close').fill('2090-05-01T07:30');
    await goOffline();
    await tab.click('Save');
    await expect.poll(() => tab.page.evaluate(`document.querySelector('form > .row').inert`)).toBe(true);
    await goOnline();
    await tab.notice('Slot updated successfully').waitFor();
    await tab.click('Edit times and groups');
    expect(await tab.page.evaluate(`document.querySelector('form > .row').inert`)).toBe(false);
  });

  it('A service that restarts under an open page is not noticed by who saves', async () => {
    await tab.click('Edit products');
    await tab.pick('Products', 'Product 4');
    await stage.slot.restart();
    await tab.click('Save', tab.notice(/1 added, 0 removed/));
  });

  it('A page that was not opened before says that it needs the connection, and comes with it; what waits to be sent is sent all the same', async () => {
    await tab.click('Edit times and groups');
    await tab.time('Orders close').fill('2090-05-01T06:45');
    await goOffline();
    await tab.click('Save', tab.button('Saving…'));
    await tab.follow('Activity', 'This page needs a connection');
    expect(await tab.text('Something went wrong').count()).toBe(0);
    await goOnline();
    await tab.notice('Slot updated successfully').waitFor();
    await tab.page.getByRole('heading', { name: 'Activity', exact: true }).waitFor();
    // The styles that did not arrive have come, too.
    const styled = `[...document.querySelectorAll('link[rel=stylesheet]')].every(({ sheet }) => sheet)`;
    expect(await tab.page.evaluate(styled)).toBe(true);
  });

  it('A page that could not be read because the service was away is read by itself once it is back', async () => {
    await tab.failAt(/GetUsersMiniInfo/);
    await tab.link('Customers').click();
    await tab.text('The service can’t be reached').waitFor();
    await tab.page.unroute(/GetUsersMiniInfo/);
    await tab.link('User 2').waitFor();
    expect(await tab.text('The service can’t be reached').count()).toBe(0);
  });
});
