import path from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { inject } from 'vitest';
import { readConsoleConfig } from '../../../services/staff-console/config.ts';
import { type RunningConsole, startConsole } from '../../../services/staff-console/server.ts';
import type { AuthConfig } from '../../../shared/config/auth.ts';
import type { Environment } from '../../../shared/config/variables.ts';
import { consoleFolder } from '../../support/build-program.ts';
import { createDatabase } from '../../support/database.ts';
import { fixture, startTestService, type TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';
import { type Launch, launchBrowser } from '../browser.ts';
import { ConsoleTab } from './console-tab.ts';

export interface TabOptions extends BrowserContextOptions {
  /** Where the tab is opened; the slots unless told. */
  readonly path?: string;
  /** The token in the link; one of staff user 1 unless told, none when empty. */
  readonly token?: string;
  /** Runs in the page before its own scripts. */
  readonly initScript?: string;
}

/** Both services on one database, the console that serves its built page, and a browser. */
export class ConsoleStage {
  readonly slot: TestService;
  readonly coupon: TestService;
  readonly origin: string;
  readonly #console: RunningConsole;
  readonly #browser: Browser;
  /** Profiles whose tabs were closed, by their options: a tab in one takes half the time. */
  readonly #idle = new Map<string, BrowserContext[]>();

  private constructor(services: [TestService, TestService], running: RunningConsole, browser: Browser) {
    [this.slot, this.coupon] = services;
    this.#console = running;
    this.#browser = browser;
    this.origin = `http://localhost:${running.port}`;
  }

  /**
   * @param variables those of the console, beside its port and the services' addresses.
   * @param auth how the services verify tokens; with the secret of tests unless told.
   * @param launch starts the browser; Chromium unless told.
   */
  static async open(
    variables: Environment = {},
    auth?: AuthConfig,
    launch: Launch = launchBrowser,
  ): Promise<ConsoleStage> {
    const settings = () => ({ corsOrigins: ['http://localhost:*'], ...(auth && { auth }) });
    const database = await createDatabase();
    await database.sql(fixture);
    // Beyond the ids that tests give themselves.
    await database.sql(`select setval('slots_id_seq', 1000), setval('coupons_id_seq', 1000)`);
    const services = await Promise.all([
      startTestService('slot', settings, database),
      startTestService('coupon', settings, database),
    ]);
    const [slotUrl, couponUrl] = services.map(({ webPort }) => `http://localhost:${webPort}`);
    const addresses = { CONSOLE_PORT: '0', CONSOLE_SLOT_URL: slotUrl, CONSOLE_COUPON_URL: couponUrl };
    const given = { ...addresses, BUSINESS_TIME_ZONE: 'Asia/Kolkata', ...variables };
    const folder = path.join(inject('programFolder'), consoleFolder);
    const running = await startConsole(readConsoleConfig(given), folder);
    return new ConsoleStage(services, running, await launch());
  }

  /** Opens the console in a browser profile that no other tab has, by a link as `npm start` prints it. */
  async openTab({ path = '/slots', token, initScript = '', ...options }: TabOptions = {}): Promise<ConsoleTab> {
    const text = token ?? (await signToken({ staffId: 1, subject: 'staff-1' }));
    const idle = this.#idleFor(options);
    const profile = idle.pop() ?? (await this.#openProfile(options));
    const [parked] = profile.pages();
    const page = await profile.newPage();
    await page.addInitScript(initScript);
    const tab = new ConsoleTab(page, async () => {
      const opened = profile.pages().filter((each) => each !== parked);
      await Promise.all(opened.map((each) => each.close()));
      await profile.clearCookies();
      idle.push(profile);
    });
    await page.goto(`${this.origin}${path}${text === '' ? '' : `#token=${text}`}`);
    return tab;
  }

  /** A profile with a page that keeps its process: to start one takes longer than to open a tab. */
  async #openProfile(options: BrowserContextOptions): Promise<BrowserContext> {
    const profile = await this.#browser.newContext({ timezoneId: 'Asia/Kolkata', ...options });
    profile.setDefaultTimeout(20_000);
    const parked = await profile.newPage();
    await parked.goto(`${this.origin}/healthz`);
    return profile;
  }

  #idleFor(options: BrowserContextOptions): BrowserContext[] {
    const key = JSON.stringify(options);
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    return idle;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await Promise.all([this.#console.stop(), this.slot.stop(), this.coupon.stop()]);
    await this.slot.database.close();
  }
}
