import path from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { readConsoleConfig } from '../../../services/staff-console/config.ts';
import { type RunningConsole, startConsole } from '../../../services/staff-console/server.ts';
import type { AuthConfig } from '../../../shared/config/auth.ts';
import type { Environment } from '../../../shared/config/variables.ts';
import { consoleFolder } from '../../support/build-program.ts';
import { createDatabase } from '../../support/database.ts';
import { fixture, startTestService, type TestService } from '../../support/service.ts';
import { signToken } from '../../support/tokens.ts';
import { describeInBrowser, type Launch, launchBrowser } from '../browser.ts';
import { ConsoleTab } from './console-tab.ts';

const timeZone = 'Asia/Kolkata';
/** The next day of the business, as addresses of the console have it: today's slots may all be past, late in the day. */
export const tomorrow = new Intl.DateTimeFormat('en-CA', { timeZone }).format(Date.now() + 24 * 3_600_000);

export interface TabOptions extends BrowserContextOptions {
  /** Where the tab is opened; the slots unless told. */
  readonly path?: string;
  /** The token in the link; one of staff user 1 unless told, none when empty. */
  readonly token?: string;
  /** Runs in the page before its own scripts. */
  readonly initScript?: string;
}

/** What makes a stage another one than usual. */
interface StageOptions {
  /** The variables of the console, beside its port and the services' addresses. */
  readonly variables?: Environment;
  /** How the services verify tokens; with the secret of tests unless told. */
  readonly auth?: AuthConfig;
  /** Starts a browser for this stage alone; Chromium, which the stages of a process share, unless told. */
  readonly launch?: Launch | undefined;
}

interface Running {
  readonly slot: TestService;
  readonly coupon: TestService;
  readonly console: RunningConsole;
  readonly browser: Browser;
}

// It ends with its process: to start one for each file would take a second of CPU each time.
let sharedBrowser: Promise<Browser> | undefined;
/** Profiles whose tabs were closed, by their options: a tab in one takes half the time. */
const sharedProfiles = new Map<string, BrowserContext[]>();

function shareBrowser(): Promise<Browser> {
  sharedBrowser ??= launchBrowser();
  return sharedBrowser;
}

/** Both services on one database, the console that serves its built page, and a browser. */
export class ConsoleStage {
  readonly #options: StageOptions;
  readonly #idle: Map<string, BrowserContext[]>;
  #running: Running | undefined;
  #tabs: ConsoleTab[] = [];

  /** It is not open yet. */
  constructor(options: StageOptions = {}) {
    this.#options = options;
    this.#idle = options.launch === undefined ? sharedProfiles : new Map();
  }

  get #parts(): Running {
    if (this.#running === undefined) throw new Error('the stage is not open');
    return this.#running;
  }

  get slot(): TestService {
    return this.#parts.slot;
  }

  get coupon(): TestService {
    return this.#parts.coupon;
  }

  get origin(): string {
    return `http://localhost:${this.#parts.console.port}`;
  }

  get sql(): TestService['database']['sql'] {
    return this.slot.database.sql;
  }

  async open(): Promise<void> {
    const { variables, auth, launch } = this.#options;
    const settings = () => ({ corsOrigins: ['http://localhost:*'], ...(auth && { auth }) });
    const database = await createDatabase();
    await database.sql(fixture);
    // Beyond the ids that tests give themselves.
    await database.sql(`select setval('slots_id_seq', 1000), setval('coupons_id_seq', 1000)`);
    const [slot, coupon, browser] = await Promise.all([
      startTestService('slot', settings, database),
      startTestService('coupon', settings, database),
      launch === undefined ? shareBrowser() : launch(),
    ]);
    const [slotUrl, couponUrl] = [slot, coupon].map(({ webPort }) => `http://localhost:${webPort}`);
    const addresses = { CONSOLE_PORT: '0', CONSOLE_SLOT_URL: slotUrl, CONSOLE_COUPON_URL: couponUrl };
    const given = { ...addresses, BUSINESS_TIME_ZONE: timeZone, ...variables };
    const folder = path.join(inject('programFolder'), consoleFolder);
    this.#running = { slot, coupon, console: await startConsole(readConsoleConfig(given), folder), browser };
  }

  /** Declares what is put into the database before the tests of a suite. */
  prepare(sql: string): void {
    beforeAll(async () => {
      await this.sql(sql);
    });
  }

  /** Opens the console in a browser profile that no other tab has, by a link as `npm start` prints it. */
  async openTab(
    { path = '/slots', token, initScript = '', ...options }: TabOptions = {},
    tab = new ConsoleTab(),
  ): Promise<ConsoleTab> {
    const text = token ?? (await signToken({ staffId: 1, subject: 'staff-1' }));
    const key = JSON.stringify(options);
    const idle = this.#idle.get(key) ?? [];
    this.#idle.set(key, idle);
    const profile = idle.pop() ?? (await this.#openProfile(options));
    const [parked] = profile.pages();
    const page = await profile.newPage();
    await page.addInitScript(initScript);
    tab.show(page, async () => {
      const opened = profile.pages().filter((each) => each !== parked);
      await Promise.all(opened.map((each) => each.close()));
      await profile.clearCookies();
      await profile.setOffline(false);
      idle.push(profile);
    });
    this.#tabs.push(tab);
    await page.goto(`${this.origin}${path}${text === '' ? '' : `#token=${text}`}`);
    return tab;
  }

  /** A profile with a page that keeps its process: to start one takes longer than to open a tab. */
  async #openProfile(options: BrowserContextOptions): Promise<BrowserContext> {
    const profile = await this.#parts.browser.newContext({ timezoneId: 'Asia/Kolkata', ...options });
    const parked = await profile.newPage();
    await parked.goto(`${this.origin}/healthz`);
    return profile;
  }

  /** Closes all tabs. Rejects when something went wrong in one without being shown. */
  async closeTabs(): Promise<void> {
    const tabs = this.#tabs;
    this.#tabs = [];
    await Promise.all(tabs.map((tab) => tab.close()));
  }

  async close(): Promise<void> {
    const { slot, coupon, browser, console } = this.#parts;
    if (this.#options.launch !== undefined) await browser.close();
    await Promise.all([console.stop(), slot.stop(), coupon.stop()]);
    await slot.database.close();
  }
}

/** The tab that a suite uses. */
export class StageTab extends ConsoleTab {
  readonly #stage: ConsoleStage;

  constructor(stage: ConsoleStage) {
    super();
    this.#stage = stage;
  }

  /** Opens the console in it. */
  async open(path?: string, options: TabOptions = {}): Promise<void> {
    await this.#stage.openTab({ ...options, ...(path !== undefined && { path }) }, this);
  }
}

type Tests = (stage: ConsoleStage, tab: StageTab) => void;

/** Opens a stage for the tests of a suite. After each test, its tabs are closed. */
export function onStage(tests: Tests, options: StageOptions = {}): void {
  const stage = new ConsoleStage(options);
  beforeAll(() => stage.open());
  afterAll(() => stage.close());
  tests(stage, new StageTab(stage));
  // The last is the first to run: pages do not see how tests clean up.
  afterEach(() => stage.closeTabs());
}

/** Declares tests of the console in Chromium, on a stage of their own, with variables of the console. */
export function describeConsole(title: string, tests: Tests, variables: Environment = {}): void {
  describeInBrowser(title, () => onStage(tests, { variables }));
}
