import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { signToken } from '../support/tokens.ts';
import type { PageAnswer, PageCall, PageTarget } from './page-calls.ts';

type Protocol = PageTarget['protocol'];
type Service = Pick<RunningService, 'webPort'>;

/** A page that calls the services from an origin of its own. */
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

  /**
   * @param page one that has not been opened at an address yet.
   * @param token whose calls they are; staff user 1's unless told.
   */
  static async of(page: Page, token?: string): Promise<CallingPage> {
    const calling = new CallingPage(page, token ?? (await signToken({ staffId: 1 })));
    await page.exposeFunction('noteVersion', (version: number) => void calling.versions.push(version));
    return calling;
  }

  /** Has the page call a procedure, such as `slot.v1.SlotService/GetAll`. */
  call(
    protocol: Protocol,
    service: Service,
    procedure: string,
    request: PageCall['request'] = {},
    headers: PageCall['headers'] = {},
  ): Promise<PageAnswer> {
    const call: PageCall = { ...this.#target(protocol, service, headers), procedure, request };
    return this.page.evaluate<PageAnswer>(`call(${JSON.stringify(call)})`);
  }

  /** Has the page watch the derived stores; resolves once it has stopped. */
  watch(protocol: Protocol, service: Service): Promise<void> {
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

  #target(protocol: Protocol, { webPort }: Service, headers: PageCall['headers'] = {}): PageTarget {
    const authorization = `Bearer ${this.#token}`;
    return { protocol, url: `http://localhost:${webPort}`, headers: { ...headers, authorization } };
  }
}
