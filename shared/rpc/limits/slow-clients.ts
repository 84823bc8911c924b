import { maxRequestStreams, maxUnreadBytes, requestTimeoutMs, responseTimeoutMs } from './limits.ts';

/** One request and its response, while they travel over a connection. */
export abstract class RequestStream {
  startedAt = 0;
  /** The unread bytes at the last sweep, and since when they are that many. */
  lastUnread = 0;
  lastUnreadSince = 0;

  /** Whether parts of the request are still to come. */
  abstract readonly isArriving: boolean;
  /** The bytes of the response that the client has not taken. */
  abstract readonly unread: number;
  /** Aborts the stream at once. */
  abstract reset(): void;
}

const sweepMs = 250;

/**
 * Resets clients that send or read too slowly (slowloris). Admission stops counting a call once its
 * response is buffered, so unread responses need their own limit: when they exceed it together, the
 * oldest streams are reset first. When too many streams are open, new ones are reset.
 */
export class SlowClientGuard {
  /** Oldest first. */
  readonly #streams = new Set<RequestStream>();
  readonly #timer: NodeJS.Timeout;
  #now = performance.now();

  constructor() {
    // One sweep over all streams is cheaper than timers and counters for each call.
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Watches a stream. When too many are open, resets it instead and returns false. */
  add(stream: RequestStream): boolean {
    if (this.#streams.size >= maxRequestStreams) {
      stream.reset();
      return false;
    }
    stream.startedAt = this.#now;
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
    let totalUnread = 0;
    for (const stream of this.#streams) {
      totalUnread += stream.unread;
      if (this.#isTooSlow(stream)) stream.reset();
    }
    for (const stream of this.#streams) {
      if (totalUnread <= maxUnreadBytes) return;
      if (stream.lastUnread === 0) continue;
      totalUnread -= stream.lastUnread;
      stream.reset();
    }
  }

  #isTooSlow(stream: RequestStream): boolean {
    if (this.#now - stream.startedAt > requestTimeoutMs && stream.isArriving) return true;
    const { unread, lastUnread } = stream;
    if (unread === lastUnread) return unread > 0 && this.#now - stream.lastUnreadSince > responseTimeoutMs;
    stream.lastUnread = unread;
    stream.lastUnreadSince = this.#now;
    return false;
  }
}
