import { expect, it } from 'vitest';
import { describeConsole } from './stage.ts';

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

describeConsole('The frame around every page', (_stage, tab) => {
  const background = () => tab.page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
  const rail = () => tab.page.locator('.frame > .rail');

  it('The page has the computer’s colours until staff choose others, which the browser keeps', async () => {
    await tab.open('/users', { colorScheme: 'dark' });
    const dark = await background();
    await tab.page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(background).not.toBe(dark);
    await tab.click('Theme: System', tab.button('Theme: Light'));
    await tab.click('Theme: Light', tab.button('Theme: Dark'));
    expect(await background()).toBe(dark);
    await tab.page.reload();
    await tab.button('Theme: Dark').waitFor();
    expect(await background()).toBe(dark);
  });

  it('The rail folds to icons that keep their names, also after a reload', async () => {
    await tab.open('/users');
    const { width: wide = 0 } = (await rail().boundingBox()) ?? {};
    await tab.click('Collapse menu', tab.button('Expand menu'));
    await tab.page.reload();
    await tab.button('Expand menu').waitFor();
    const { width: narrow = 0 } = (await rail().boundingBox()) ?? {};
    expect(narrow).toBeLessThan(wide / 3);
    await tab.follow('Activity', 'Activity');
  });

  it('A question mark outside of fields shows the keys, and inside a field it is text', async () => {
    await tab.open('/users');
    await tab.heading('Customers').waitFor();
    await tab.page.getByRole('searchbox').pressSequentially('who?');
    expect(await tab.heading('Keys').count()).toBe(0);
    await tab.heading('Customers').click();
    await tab.press('?');
    await tab.heading('Keys').waitFor();
    await tab.press('Escape');
    await tab.heading('Keys').waitFor({ state: 'detached' });
  });

  it('On a phone the places are behind a menu, which closes where it has led', async () => {
    await tab.open('/users', phone);
    await tab.heading('Customers').waitFor();
    expect(await rail().isVisible()).toBe(false);
    await tab.click('Menu', tab.link('Storefront'));
    await tab.follow('Storefront', 'Storefront');
    await tab.link('Activity').waitFor({ state: 'hidden' });
    expect(await tab.overflow()).toBe(0);
  });

  it('The bar of a page is one line high, in any window of a desk', async () => {
    for (const width of [768, 1024, 1280, 1440]) {
      await tab.open('/coupons', { viewport: { width, height: 800 } });
      await tab.heading('Coupons').waitFor();
      const { height = 0 } = (await tab.page.locator('.page-header').boundingBox()) ?? {};
      expect(height).toBeLessThan(60);
      expect(await tab.overflow()).toBe(0);
      await tab.close();
    }
  });
});

describeConsole('Saved filters', (_stage, tab) => {
  it('Filters that are saved under a name are a press away, and can be deleted', async () => {
    await tab.open('/audit?staff=2');
    await tab.click('Saved filters');
    await tab.page.getByRole('menuitem', { name: 'Save filters…' }).click();
    await tab.fill({ Name: 'By Ravi' });
    await tab.click('Save');
    await tab.page.goto(tab.page.url().replace(/\?.*/, ''));
    await tab.click('Saved filters');
    await tab.page.getByRole('menuitem', { name: 'By Ravi' }).click();
    await tab.page.waitForURL('**/audit?staff=2');
    await tab.click('Saved filters');
    await tab.page.getByRole('menuitem', { name: 'Delete “By Ravi”' }).click();
    await tab.click('Saved filters');
    await tab.page.getByRole('menuitem', { name: 'Save filters…' }).waitFor();
    expect(await tab.page.getByRole('menuitem', { name: 'By Ravi' }).count()).toBe(0);
  });
});
