import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from '../browser.ts';
import type { ConsoleTab } from './console-tab.ts';
import { ConsoleStage } from './stage.ts';

describeInBrowser('A person who has read nothing', () => {
  let stage: ConsoleStage;
  let tab: ConsoleTab;

  beforeAll(async () => {
    stage = await ConsoleStage.open();
  });

  afterEach(() => tab.close());

  afterAll(() => stage.close());

  it('A newcomer creates a slot with a snippet, marks it full, creates a coupon, checks it, and finds both in the audit trail', async () => {
    tab = await stage.openTab({ path: '/' });
    await tab.link('New slot').click();
    await tab.pick('Products', 'Product 3', 'Product 4');
    await tab.button('Add a vendor snippet').click();
    await tab.field('Snippet name').fill('first-snippet');
    await tab.pick('Products of the snippet', 'Product 3');
    await tab.button('Create slot').click();
    await tab.button(/^Mark full/).click();
    await tab.page.getByText('Full', { exact: true }).first().waitFor();

    await tab.link('Coupons').click();
    await tab.link('New coupon').click();
    await tab.page.getByRole('textbox', { name: /^Code/ }).fill('FIRST10');
    await tab.page
      .getByLabel(/^Percent|Discount in percent/)
      .last()
      .fill('10');
    await tab.page.getByText('Everyone', { exact: true }).click();
    await tab.button(/^Create/).click();
    await tab.heading('FIRST10').waitFor();

    await tab.link('Check a coupon').click();
    await tab.page.getByLabel(/^(Coupon )?code/i).fill('first10');
    await tab.page.getByLabel(/amount/i).fill('500');
    await tab.page.keyboard.press('Enter');
    await tab.page
      .getByText(/\b50\b/)
      .first()
      .waitFor();

    await tab.link('Audit trail').click();
    for (const deed of ['created coupon', 'marked slot', 'created slot']) {
      await tab.page.getByRole('paragraph').filter({ hasText: deed }).first().waitFor();
    }
  });

  it('Staff work with the keyboard alone', async () => {
    tab = await stage.openTab();
    await tab.link('New slot').waitFor();
    const press = (key: string) => tab.page.keyboard.press(key);
    /** Goes on with Tab until the focus is on what has a name. */
    async function tabTo(name: RegExp): Promise<void> {
      const focused = tab.page.locator(':focus');
      for (let left = 60; left > 0; left -= 1) {
        await press('Tab');
        const snapshot = (await focused.count()) === 0 ? '' : await focused.first().ariaSnapshot();
        if (name.test(snapshot)) return;
      }
      throw new Error(`the keyboard does not reach ${name}`);
    }
    await press('Tab');
    await press('Enter');
    // Past the navigation, which "Skip to the content" has left behind.
    await tabTo(/link "New slot"/);
    await press('Enter');
    await tab.heading('New slot').waitFor();
    await tabTo(/searchbox "Products"/);
    await tab.page.keyboard.type('Product 17');
    await tab.page.getByRole('row', { name: 'Product 17', exact: true }).waitFor();
    await expect.poll(() => tab.page.getByRole('grid', { name: 'Products: found' }).getByRole('row').count()).toBe(1);
    await press('Enter');
    await tabTo(/button "Create slot"/);
    await press('Enter');
    await tab.section('Products (1)').getByText('Product 17').waitFor();
    await tabTo(/button "Mark full/);
    await press('Space');
    await tab.page.getByText('Full', { exact: true }).first().waitFor();
  });
});
