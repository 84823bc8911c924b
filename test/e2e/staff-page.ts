import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

export interface SlotFields {
  readonly products?: string;
  /** One a line, such as "morning-run: 1, 2". */
  readonly snippets?: string;
}

/** The page as its user sees it. */
export class StaffPage {
  readonly page: Page;
  readonly status: Locator;
  readonly alert: Locator;
  readonly #uncaught: Error[] = [];

  constructor(page: Page) {
    this.page = page;
    this.status = page.getByRole('status');
    this.alert = page.getByRole('alert');
    page.on('pageerror', (error) => this.#uncaught.push(error));
  }

  /** What the items of a list say. */
  items(list: string): Locator {
    return this.page.getByRole('list', { name: list }).getByRole('listitem');
  }

  async fill(label: string, text: string): Promise<void> {
    await this.page.getByLabel(label, { exact: true }).fill(text);
  }

  async press(button: string): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click();
  }

  async logIn(protocol: string, token: string): Promise<void> {
    await this.page.getByLabel('Protocol').selectOption(protocol);
    await this.fill('Token', token);
    await this.press('Log in');
  }

  async createSlot({ products = '', snippets = '' }: SlotFields): Promise<void> {
    await this.fill('Delivery time (UTC)', '2090-05-01T10:00');
    await this.fill('Orders close (UTC)', '2090-05-01T06:30');
    await this.fill('Products', products);
    await this.fill('Snippets, one a line', snippets);
    await this.press('Create slot');
  }

  /** Rejects when the page has thrown an error that it did not catch. */
  async close(): Promise<void> {
    await this.page.context().close();
    expect(this.#uncaught).toEqual([]);
  }
}

/** Waits for the text of an element. */
export function expectText(locator: Locator) {
  return expect.poll(() => locator.innerText(), { interval: 20 });
}
