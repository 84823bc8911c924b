import { expect, it } from 'vitest';
import { describeInEachBrowser, launchBrowser } from '../browser.ts';
import { onStage } from './stage.ts';
import { StoredSlots } from './stored-slots.ts';

describeInEachBrowser('The tasks of staff', (launch) =>
  onStage(
    (stage, tab) => {
      it('A newcomer creates a slot with a snippet, marks it full, creates a coupon, checks it, and finds both in the audit trail', async () => {
        await tab.open('/');
        await tab.link('New slot').click();
        await tab.pick('Products', 'Product 3', 'Product 4');
        await tab.click('Add vendor snippet');
        await tab.type(tab.field('Snippet name'), 'first-snippet');
        await tab.pick('Products of the snippet', 'Product 3');
        await tab.click('Create slot');
        await tab.click(/^Mark full/, tab.exactly('Full').first());

        await tab.link('Coupons').click();
        await tab.link('New coupon').first().click();
        await tab.type(tab.page.getByRole('textbox', { name: /^Code/ }), 'FIRST10');
        await tab.type(tab.page.getByLabel(/^Percent|Percent off/).last(), '10');
        await tab.exactly('Everyone').click();
        await tab.click(/^Create/, tab.heading('Coupon FIRST10'));

        await tab.link('Coupons').click();
        await tab.link('Check a coupon').click();
        await tab.type(tab.field('Code'), 'first10');
        await tab.type(tab.page.getByLabel(/amount/i), '500');
        await tab.press('Enter');
        await tab.exactly('50.00').waitFor();

        await tab.link('Activity').click();
        for (const deed of ['created coupon', /marked .* full/, /created \w+ \d+ \w+/]) {
          await tab.page.getByRole('paragraph').filter({ hasText: deed }).first().waitFor();
        }
      });

      it('Staff work with the keyboard alone', async () => {
        await new StoredSlots(stage).clear();
        await tab.open();
        await tab.link('New slot').waitFor();
        /** Goes on with Tab until the focus is on what has a name. */
        async function tabTo(name: RegExp): Promise<void> {
          const focused = tab.page.locator(':focus');
          for (let left = 60; left > 0; left -= 1) {
            await tab.press('Tab');
            const snapshot = (await focused.count()) === 0 ? '' : await focused.first().ariaSnapshot();
            if (name.test(snapshot)) return;
          }
          throw new Error(`the keyboard does not reach ${name}`);
        }
        await tab.press('Tab', 'Enter');
        // Past the navigation, which "Skip to content" has left behind.
        await tabTo(/link "New slot"/);
        await tab.press('Enter');
        await tab.heading('New slot').waitFor();
        await tabTo(/searchbox "Products"/);
        await tab.page.keyboard.type('Product 17');
        await tab.page.getByRole('row', { name: 'Product 17', exact: true }).waitFor();
        const found = tab.page.getByRole('grid', { name: 'Products: found' }).getByRole('row');
        await expect.poll(() => found.count()).toBe(1);
        await tab.press('Enter');
        await tabTo(/button "Create slot"/);
        await tab.press('Enter');
        await tab.section('Products (1)').getByText('Product 17').waitFor();
        await tabTo(/button "Mark full/);
        await tab.press('Space');
        await tab.exactly('Full').first().waitFor();
      });

      it('Staff plan the next week from this one, with one change, by less than 40 keys', async () => {
        const slots = new StoredSlots(stage);
        await slots.clear();
        await slots.addWeek();
        await tab.open('/slots?day=2090-05-01');
        await tab.link(/Slot 1$/).waitFor();
        let presses = 0;
        const count = async (...keys: string[]) => {
          presses += keys.length;
          for (const key of keys) await tab.press(key);
        };
        await count('Control+k');
        await tab.page.getByRole('searchbox', { name: 'Search everything' }).waitFor();
        await count('c', 'o', 'p', 'y');
        await tab.page.getByRole('menuitem', { name: 'Copy this week to…' }).waitFor();
        await count('Enter');
        await tab.page.getByRole('dialog', { name: 'Copy this week' }).waitFor();
        await count('Enter');
        await tab.notice('12 slots created').waitFor();
        await tab.link(/Slot 1001$/).waitFor();
        const onSlot = () => tab.page.evaluate<boolean>('Number(document.activeElement?.dataset?.place) > 0');
        while (!(await onSlot()) && presses < 40) await count('Tab');
        await count('Alt+ArrowDown');
        await tab.notice('1 slot moved by 1 h').waitFor();
        expect(presses).toBeLessThan(40);
        const times = await slots.planned();
        expect(times).toHaveLength(12);
        expect(times.filter((time) => time.endsWith('13:00') || time.endsWith('11:00'))).toHaveLength(1);
      });
    },
    { launch: launch === launchBrowser ? undefined : launch },
  ),
);
