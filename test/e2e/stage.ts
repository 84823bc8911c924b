import type { Browser } from 'playwright-core';
import type { TestService } from '../support/service.ts';
import { startTestService } from '../support/service.ts';
import { launchBrowser } from './browser.ts';
import { CallingPage } from './calling-page.ts';
import { bundlePage, PageServer } from './page-server.ts';

/** Both services, a browser, and the page on two origins: one that the services allow and one that they don't. */
export class Stage {
  readonly slot: TestService;
  readonly coupon: TestService;
  readonly #browser: Browser;
  readonly #ours: PageServer;
  readonly #foreign: PageServer;

  private constructor(services: [TestService, TestService], pages: [PageServer, PageServer], browser: Browser) {
    [this.slot, this.coupon] = services;
    [this.#ours, this.#foreign] = pages;
    this.#browser = browser;
  }

  static async open(): Promise<Stage> {
    const files = await bundlePage();
    const pages = await Promise.all([PageServer.start(files), PageServer.start(files, '127.0.0.1')]);
    // Long enough that a read that does not wait for a write comes before its refresh.
    const settings = () => ({ corsOrigins: ['http://localhost:*'], storeRefreshDelayMs: 500 });
    const services = await Promise.all([startTestService('slot', settings), startTestService('coupon', settings)]);
    return new Stage(services, pages, await launchBrowser());
  }

  /** Opens the page with an empty browser profile. */
  openPage(): Promise<CallingPage> {
    return this.#open(this.#ours);
  }

  /** Opens the page on the origin that the services do not allow. */
  openForeignPage(): Promise<CallingPage> {
    return this.#open(this.#foreign);
  }

  async #open({ origin }: PageServer): Promise<CallingPage> {
    const context = await this.#browser.newContext();
    const page = await context.newPage();
    const calling = await CallingPage.of(page);
    await page.goto(origin);
    return calling;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await Promise.all([this.#ours.stop(), this.#foreign.stop(), this.slot.stop(), this.coupon.stop()]);
  }
}
