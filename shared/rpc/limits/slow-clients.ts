import { maxRequestStreams, maxUnreadBytes, requestTimeoutMs, responseTimeoutMs } from './limits.ts';

/** One request and its answer, on their ways over a connection. */
export abstract class RequestStream {
  begunAt = 0;
  /** What was left to read when it was last looked at, and since when. */
  unreadThen = 0;
  unreadSince = 0;

  /** Whether the request has not come as a whole. */
  abstract readonly isArriving: boolean;
  /** The bytes of the answer that the caller has not taken. */
  abstract readonly unread: number;
  /** Ends it as it is. */
  abstract reset(): void;
}

const sweepMs = 250;

/**
 * Cuts callers who take too long to send a request, or to read an answer. A call has ended when its
 * answer is handed to the connection: no limit of calls bounds what is left there by those who ask and
 * don't read. When that is too much in all, those who were asked to read first are cut. When too many
 * are open, those who come next are.
 */
export class SlowClientGuard {
  /** Oldest first. */
  readonly #streams = new Set<RequestStream>();
  readonly #timer: NodeJS.Timeout;
  #now = performance.now();

  constructor() {
    // One look at all of them costs each call less than timers and counts of its own.
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Whether there is a place for it: it was cut otherwise. */
  add(stream: RequestStream): boolean {
    if (this.#streams.size >= maxRequestStreams) {
      stream.reset();
      return false;
    }
    stream.begunAt = this.#now;
    this.#streams.add(stream);
    return true;
  }

  delete(stream: RequestStream): void {
    this.#streams.delete(stream);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    this.#now = performance.now();
    let unreadInAll = 0;
    for (const stream of this.#streams) {
      unreadInAll += stream.unread;
      if (this.#isTooSlow(stream)) stream.reset();
    }
    for (const stream of this.#streams) {
      if (unreadInAll <= maxUnreadBytes) return;
      if (stream.unreadThen === 0) continue;
      unreadInAll -= stream.unreadThen;
      stream.reset();
    }
  }

  #isTooSlow(stream: RequestStream): boolean {
    if (this.#now - stream.begunAt > requestTimeoutMs && stream.isArriving) return true;
    const { unread, unreadThen } = stream;
    if (unread === unreadThen) return unread > 0 && this.#now - stream.unreadSince > responseTimeoutMs;
    stream.unreadThen = unread;
    stream.unreadSince = this.#now;
    return false;
  }
}
