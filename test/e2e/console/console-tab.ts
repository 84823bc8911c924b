import { readFile } from 'node:fs/promises';
import { fromBinary } from '@bufbuild/protobuf';
import type { Locator, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { mutations } from '../../../services/staff-console/page/audit/trail/deeds.ts';
import { CopySlotsRequestSchema } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';

/** Whether a request asks what CopySlots would do. Over WebDriver BiDi, which tells no body, any of CopySlots may be one. */
function isDryRun(request: Request): boolean {
  const body = request.postDataBuffer();
  return request.url().endsWith('/CopySlots') && (body === null || fromBinary(CopySlotsRequestSchema, body).dryRun);
}

/** A tab with the console, as a staff member uses it: by roles and names. */
export class ConsoleTab {
  /**
   * What went wrong in the page without being shown: uncaught errors, what the Content-Security-Policy refused, and mutations
   * without an idempotency key.
   */
  readonly #mishaps: string[] = [];
  readonly #closers: (() => Promise<void>)[] = [];
  #page: Page | undefined;

  constructor(page?: Page) {
    if (page !== undefined) this.show(page);
  }

  get page(): Page {
    if (this.#page === undefined) throw new Error('the tab is not open');
    return this.#page;
  }

  /** @param closeAll closes what was opened in the profile of the page; the profile itself unless told. */
  show(page: Page, closeAll = () => page.context().close()): void {
    this.#page = page;
    this.#closers.push(closeAll);
    page.on('pageerror', (error) => this.#mishaps.push(error.stack ?? error.message));
    page.on('request', (request) => {
      const isMutation = mutations.some((procedure) => request.url().endsWith(`/${procedure}`));
      const hasKey = request.headers()['idempotency-key'] !== undefined;
      if (isMutation && request.method() === 'POST' && !hasKey && !isDryRun(request))
        this.#mishaps.push(`no key: ${request.url()}`);
    });
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) this.#mishaps.push(message.text());
    });
  }

  /** What the page shows, by its text or a part of it. */
  text(text: string | RegExp): Locator {
    return this.page.getByText(text);
  }

  /** What the page shows, by its whole text. */
  exactly(text: string): Locator {
    return this.page.getByText(text, { exact: true });
  }

  heading(name: string | RegExp): Locator {
    return this.page.getByRole('heading', { name, exact: typeof name === 'string' });
  }

  field(label: string): Locator {
    return this.page.getByLabel(label, { exact: true });
  }

  /** A date and its time, which are two fields. Their text is such as 2026-11-23T14:30. */
  time(label: string) {
    const fields = [this.field(label), this.field(`${label}: time`)] as const;
    return {
      fill: async (text: string) => {
        for (const [index, part] of text.split('T').entries()) await fields[index]?.fill(part);
      },
      inputValue: async () => (await Promise.all(fields.map((field) => field.inputValue()))).join('T'),
    };
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('link', { name, exact: typeof name === 'string' });
  }

  /** A part of the page, by its heading. */
  section(name: string | RegExp): Locator {
    return this.page.getByRole('region', { name });
  }

  /** What was done, as the page tells it. */
  notice(text: string | RegExp): Locator {
    return this.page.getByRole('alertdialog').filter({ hasText: text });
  }

  /** Types into a field instead of what it has, key by key: by WebDriver BiDi, `fill` changes a field unseen by React. */
  async type(field: Locator, text: string): Promise<void> {
    await field.selectText();
    await field.pressSequentially(text);
  }

  /** Presses a button, and waits for what it brings. */
  async click(button: string | RegExp, brings?: Locator): Promise<void> {
    await this.button(button).click();
    await brings?.waitFor();
  }

  /** Does an action of the page that stands behind its dots. */
  async more(action: string): Promise<void> {
    await this.button('More actions').click();
    await this.page.getByRole('menuitem', { name: action, exact: true }).click();
  }

  /** Goes by a link to the page with a heading. */
  async follow(link: string | RegExp, heading: string | RegExp): Promise<void> {
    await this.link(link).click();
    await this.heading(heading).waitFor();
  }

  /** Fills in fields, by their labels. */
  async fill(texts: Readonly<Record<string, string>>): Promise<void> {
    for (const [label, text] of Object.entries(texts)) {
      await (/T\d\d:\d\d$/.test(text) ? this.time(label) : this.field(label)).fill(text);
    }
  }

  /** Presses keys, one after the other. */
  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Chooses an option of a list that opens at a press. */
  async select(field: string | RegExp | Locator, option: string): Promise<void> {
    await (typeof field === 'string' || field instanceof RegExp ? this.button(field) : field).click();
    await this.page.getByRole('option', { name: option, exact: true }).click();
  }

  /** Saves a list as CSV, the one of a part of the page if there are several. Returns the lines, headings first. */
  async savedCsv(part: Page | Locator = this.page): Promise<string[]> {
    const save = part.getByRole('button', { name: 'Export CSV' }).click();
    const [download] = await Promise.all([this.page.waitForEvent('download'), save]);
    return (await readFile(await download.path(), 'utf8')).replace('\ufeff', '').trimEnd().split('\r\n');
  }

  /** Holds the calls of procedures until they are released by the function that it returns. */
  async hold(procedures: RegExp): Promise<() => void> {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await this.page.route(procedures, async (route) => {
      await released;
      await route.continue();
    });
    return release;
  }

  /** Has the calls of procedures fail, as while their service is away. */
  async failAt(procedures: RegExp): Promise<void> {
    await this.page.route(procedures, (route) => route.abort('connectionrefused'));
  }

  /** Is without a network meanwhile. */
  async offline(meanwhile: () => Promise<void>): Promise<void> {
    await this.page.context().setOffline(true);
    await this.text(/You are offline/).waitFor();
    await meanwhile();
    await this.page.context().setOffline(false);
  }

  /** How much wider the page is than its window. */
  async overflow(): Promise<number> {
    const width: number = await this.page.evaluate('document.documentElement.scrollWidth');
    return width - (this.page.viewportSize()?.width ?? 0);
  }

  /** Searches in a field, and ticks what it finds. */
  async pick(label: string, ...names: readonly string[]): Promise<void> {
    const group = this.page.getByRole('group', { name: label, exact: true });
    const found = this.page.getByRole('grid', { name: `${label}: found`, exact: true });
    for (const name of names) {
      await this.type(group.getByRole('searchbox'), name);
      // Until the rows before it have gone, a row may move away from the pointer.
      await found.getByRole('row').filter({ hasNotText: name }).first().waitFor({ state: 'detached' });
      await found.getByRole('row', { name, exact: true }).click();
    }
  }

  /** Rejects when something went wrong in the page without being shown. */
  async close(): Promise<void> {
    await this.#page?.unrouteAll({ behavior: 'ignoreErrors' });
    this.#page = undefined;
    for (const closeAll of this.#closers.splice(0)) await closeAll();
    expect(this.#mishaps.splice(0)).toEqual([]);
  }
}
