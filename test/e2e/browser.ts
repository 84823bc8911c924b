import { existsSync } from 'node:fs';
import { type Browser, chromium, firefox } from 'playwright-core';
import { describeUnless } from '../support/describe-unless.ts';
import { patienceMs } from '../support/patience.ts';
import './bidi-transport.ts';

const chromiumPath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const firefoxPath = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // The tabs of a profile share a process.
  '--process-per-site',
];

/** Starts a browser without a window, with a profile of its own. */
export type Launch = () => Promise<Browser>;

const patient = (browser: Browser) => browser.on('context', (context) => context.setDefaultTimeout(patienceMs));

export const launchBrowser: Launch = async () =>
  patient(await chromium.launch({ executablePath: chromiumPath, args, headless: true }));

/** Firefox as Debian has it, by WebDriver BiDi: without such a channel, Playwright wants a Firefox that is built for it. */
const launchFirefox: Launch = async () =>
  patient(await firefox.launch({ executablePath: firefoxPath, channel: 'moz-firefox', headless: true }));

const missing = (name: string, path: string) => (existsSync(path) ? undefined : `no ${name} at ${path}`);

/** Declares tests in Chromium: skipped with the reason where there is none, unless REQUIRE_CHROMIUM is set. */
export function describeInBrowser(title: string, tests: () => void): void {
  describeUnless(missing('Chromium', chromiumPath), title, 'REQUIRE_CHROMIUM', tests);
}

/** Declares the same tests in Chromium and in Firefox: each as `describeInBrowser`, with REQUIRE_FIREFOX. */
export function describeInEachBrowser(title: string, tests: (launch: Launch) => void): void {
  describeInBrowser(`${title}, in Chromium`, () => tests(launchBrowser));
  describeUnless(missing('Firefox', firefoxPath), `${title}, in Firefox`, 'REQUIRE_FIREFOX', () =>
    tests(launchFirefox),
  );
}
