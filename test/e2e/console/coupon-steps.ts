import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import type { TestService } from '../../support/service.ts';
import type { ConsoleTab } from './console-tab.ts';

/** The columns of a coupon, by their names in the database. */
type Columns = Readonly<Record<string, unknown>>;

/** Puts a coupon into the database, 10 % for everyone unless told otherwise, and returns its id. */
export async function insertCoupon({ database }: TestService, columns: Columns = {}): Promise<number> {
  const row = { coupon_code: 'SAVE10', discount_percent: 10, is_apply_for_all: true, created_by: 1, ...columns };
  const names = Object.keys(row);
  const [inserted] = await database.sql<{ id: number }>(
    `insert into coupons (${names.join(', ')}) values (${names.map((_, n) => `$${n + 1}`).join(', ')}) returning id`,
    Object.values(row),
  );
  if (inserted === undefined) throw new Error('an insert that returns its row has returned none');
  return inserted.id;
}

/** The coupons in the database, in the order of their creation. */
export function readCoupons({ database }: TestService) {
  return database.sql<Record<string, unknown>>(
    `select coupons.*, array(select user_id from coupon_applicable_users where coupon_id = coupons.id order by 1) as users,
       array(select product_id from coupon_applicable_products where coupon_id = coupons.id order by 1) as products
     from coupons order by id`,
  );
}

/** Leaves no coupon behind for the next test. */
export async function deleteCoupons({ database }: TestService): Promise<void> {
  await database.sql('delete from coupons; delete from reserved_coupons');
}

/** Chooses one of the options that stand under a label. */
export async function choose({ page }: ConsoleTab, label: string, option: string): Promise<void> {
  await page.getByRole('radiogroup', { name: label }).getByText(option, { exact: true }).click();
}

/** The problem that stands at a field. */
export function problemAt(tab: ConsoleTab, label: string, problem: string): Locator {
  return tab.page.locator('.field', { has: tab.field(label) }).getByText(problem, { exact: true });
}

/** A row of a list, by the code or name that it begins with. */
export function row({ page }: ConsoleTab, name: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('rowheader').getByText(name, { exact: true }) });
}

/** The cells of a line of a CSV file, each of which is quoted. */
export function cellsOf(line = ''): string[] {
  return line
    .slice(1, -1)
    .split('","')
    .map((cell) => cell.replaceAll('""', '"'));
}

/** Presses an action of the page that stands behind the dots. */
export async function chooseMore({ page }: ConsoleTab, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name, exact: true }).click();
}

/** Scrolls a list to its end, until it has so many rows. Returns the heads of its rows. */
export async function scrollToEnd({ page }: ConsoleTab, count: number): Promise<string[]> {
  const heads = page.getByRole('rowheader');
  const scrolled = async () => {
    await heads.last().scrollIntoViewIfNeeded();
    return heads.count();
  };
  await expect.poll(scrolled).toBe(count);
  return heads.allInnerTexts();
}
