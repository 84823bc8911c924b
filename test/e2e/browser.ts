import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { describe } from 'vitest';

const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const noChromium = existsSync(executablePath) ? undefined : `no Chromium at ${executablePath}`;

const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // The tabs of a profile share a process.
  '--process-per-site',
];

/** Declares tests in a browser: skipped with the reason where there is none, unless REQUIRE_CHROMIUM is set. */
export function describeInBrowser(title: string, tests: () => void): void {
  if (noChromium !== undefined && process.env.REQUIRE_CHROMIUM) throw new Error(`${noChromium}: it is required here`);
  const name = noChromium === undefined ? title : `${title} (skipped: ${noChromium})`;
  describe.skipIf(noChromium !== undefined)(name, tests);
}

/** A headless Chromium with a profile of its own. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args, headless: true });
}
