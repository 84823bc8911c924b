import { ServerResponse } from 'node:http';
import type { WebRequest, WebResponse } from '../web/port.ts';
import { maxExchanges, maxUnreadBytes, slowestAnswerMs, slowestRequestMs } from './limits.ts';

/** One request and its answer, on their ways over a connection. */
export abstract class Exchange {
  begunAt = 0;
  /** What was left to read when it was last looked at, and since when. */
  unreadThen = 0;
  unreadSince = 0;

  /** Whether the request has not come as a whole. */
  abstract readonly isArriving: boolean;
  /** The bytes of the answer that the caller has not taken. */
  abstract readonly unread: number;
  /** Ends it as it is. */
  abstract cut(): void;
}

const sweepMs = 250;

/**
 * Cuts callers who take too long to send a request, or to read an answer. A call has ended when its
 * answer is handed to the connection: no limit of calls bounds what is left there by those who ask and
 * don't read. When that is too much in all, those who were asked to read first are cut. When too many
 * are open, those who come next are.
 */
export class SlowCallers {
  /** Oldest first. */
  readonly #exchanges = new Set<Exchange>();
  readonly #timer: NodeJS.Timeout;
  #now = performance.now();

  constructor() {
    // One look at all of them costs each call less than timers and counts of its own.
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Whether there is a place for it: it was cut otherwise. */
  add(exchange: Exchange): boolean {
    if (this.#exchanges.size >= maxExchanges) {
      exchange.cut();
      return false;
    }
    exchange.begunAt = this.#now;
    this.#exchanges.add(exchange);
    return true;
  }

  delete(exchange: Exchange): void {
    this.#exchanges.delete(exchange);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    this.#now = performance.now();
    let unreadInAll = 0;
    for (const exchange of this.#exchanges) {
      unreadInAll += exchange.unread;
      if (this.#isTooSlow(exchange)) exchange.cut();
    }
    for (const exchange of this.#exchanges) {
      if (unreadInAll <= maxUnreadBytes) return;
      if (exchange.unreadThen === 0) continue;
      unreadInAll -= exchange.unreadThen;
      exchange.cut();
    }
  }

  #isTooSlow(exchange: Exchange): boolean {
    if (this.#now - exchange.begunAt > slowestRequestMs && exchange.isArriving) return true;
    const { unread, unreadThen } = exchange;
    if (unread === unreadThen) return unread > 0 && this.#now - exchange.unreadSince > slowestAnswerMs;
    exchange.unreadThen = unread;
    exchange.unreadSince = this.#now;
    return false;
  }
}

/** On the web port, where Node bounds the time of a request by itself, but not over HTTP/2. */
export class HttpExchange extends Exchange {
  readonly #request: WebRequest;
  readonly #response: WebResponse;

  constructor(request: WebRequest, response: WebResponse) {
    super();
    this.#request = request;
    this.#response = response;
  }

  get isArriving(): boolean {
    const request = this.#request;
    // A query by GET has no body, and nobody reads its end.
    return 'stream' in request && !request.stream.endAfterHeaders && !request.complete;
  }

  get unread(): number {
    const response = this.#response;
    return response instanceof ServerResponse ? response.writableLength : (response.stream?.writableLength ?? 0);
  }

  cut(): void {
    this.#response.destroy();
  }
}
