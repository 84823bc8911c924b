import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TestService } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import type { PageAnswer, PageCall, PageTarget } from './page-calls.ts';

type Protocol = PageTarget['protocol'];

/** A page that calls the services from an origin of its own, as staff user 1. */
export class CallingPage {
  readonly page: Page;
  /** The versions of the derived stores that the page has seen while it watched them. */
  readonly versions: number[] = [];
  readonly #uncaught: Error[] = [];
  readonly #token: string;

  private constructor(page: Page, token: string) {
    this.page = page;
    this.#token = token;
    page.on('pageerror', (error) => this.#uncaught.push(error));
  }

  /** @param page one that has not been opened at an address yet. */
  static async of(page: Page): Promise<CallingPage> {
    const calling = new CallingPage(page, await signToken({ staffId: 1 }));
    await page.exposeFunction('noteVersion', (version: number) => void calling.versions.push(version));
    return calling;
  }

  /** Has the page call a procedure, such as `slot.v1.SlotService/GetAll`. */
  call(
    protocol: Protocol,
    service: TestService,
    procedure: string,
    request: PageCall['request'] = {},
    headers: PageCall['headers'] = {},
  ): Promise<PageAnswer> {
    const call: PageCall = { ...this.#target(protocol, service, headers), procedure, request };
    return this.page.evaluate<PageAnswer>(`call(${JSON.stringify(call)})`);
  }

  /** Has the page watch the derived stores; resolves once it has stopped. */
  watch(protocol: Protocol, service: TestService): Promise<void> {
    return this.page.evaluate<void>(`watch(${JSON.stringify(this.#target(protocol, service))})`);
  }

  stopWatching(): Promise<void> {
    return this.page.evaluate<void>('stopWatching()');
  }

  /** Rejects when the page has thrown an error that it did not catch. */
  async close(): Promise<void> {
    await this.page.context().close();
    expect(this.#uncaught).toEqual([]);
  }

  #target(protocol: Protocol, { webPort }: TestService, headers: PageCall['headers'] = {}): PageTarget {
    const authorization = `Bearer ${this.#token}`;
    return { protocol, url: `http://localhost:${webPort}`, headers: { ...headers, authorization } };
  }
}
