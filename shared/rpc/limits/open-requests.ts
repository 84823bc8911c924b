import type { Authenticator } from '../../auth/authenticator.ts';
import type { Caller } from '../../fairness/caller.ts';
import { FairShare } from '../../fairness/fair-share.ts';
import type { Connection } from './connections.ts';
import {
  maxMessageBytes,
  maxOpenRequests,
  maxRequestBytes,
  maxStrangersBytes,
  maxStrangersRequests,
  maxStrangersRequestsPerConnection,
  maxUnreadBytes,
  requestTimeoutMs,
  responseTimeoutMs,
  smallRequestBytes,
} from './limits.ts';

// The highest compression ratio of deflate, and the memory of a zlib stream while it inflates.
const maxInflation = 1032;
const inflaterBytes = 48 * 1024;

/** One request and its response, while they travel over a connection. */
export abstract class OpenRequest {
  /** The `sub` of its caller; undefined for a stranger, who has shown no credential yet. */
  subject: string | undefined;
  /** The memory that is counted for it. */
  bytes = 0;
  startedAtMs = 0;
  /** The unread bytes at the last sweep, and since when they are that many. */
  lastUnread = 0;
  lastUnreadSinceMs = 0;
  readonly #requests: OpenRequests;
  readonly #isCompressed: boolean;
  readonly #headerBytes: number;

  /** @param rawHeaders header names and values, as Node received them. */
  constructor(requests: OpenRequests, rawHeaders: readonly string[], isCompressed: boolean) {
    this.#requests = requests;
    this.#isCompressed = isCompressed;
    let headerBytes = 0;
    for (const part of rawHeaders) headerBytes += part.length;
    this.#headerBytes = headerBytes;
  }

  /** The memory that the request may take once so many bytes of its body have come. */
  memoryFor(size: number): number {
    const body = this.#isCompressed ? Math.min(size * maxInflation, maxMessageBytes) + inflaterBytes : size;
    return this.#headerBytes + body;
  }

  /**
   * Counts the memory of the request, of whose body `size` bytes have come; false when its caller may
   * take no more.
   */
  reserve(size: number): boolean {
    return this.#requests.reserve(this, this.memoryFor(size));
  }

  /** Whether parts of the request are still to come. */
  abstract readonly isArriving: boolean;
  /** The bytes of the response that the client has not taken. */
  abstract readonly unread: number;
  /** Aborts the request at once. */
  abstract reset(): void;
  /** Closes its connection at once. */
  abstract disconnect(): void;
}

const sweepMs = 50;

/**
 * The requests of a process that are open, on both ports. A caller has its share of their number, of the
 * memory for large ones, and of the bytes that are sent and not read. Strangers have a small pot of
 * their own, in which the oldest request makes room for the newest: none of theirs can stand in the way
 * of one with a credential.
 */
export class OpenRequests {
  readonly #authenticator: Authenticator;
  /** Oldest first. */
  readonly #open = new Set<OpenRequest>();
  /** Those whose credential is being verified, oldest first. */
  readonly #unverified = new Set<OpenRequest>();
  /** Those that have shown no good credential, oldest first, with their connections. */
  readonly #strangers = new Map<OpenRequest, Connection>();
  readonly #requests = new FairShare(maxOpenRequests);
  readonly #bytes = new FairShare(maxRequestBytes);
  readonly #timer: NodeJS.Timeout;
  #strangersBytes = 0;
  /** As of the last sweep, with the responses that were sent since. */
  #unread = new FairShare(maxUnreadBytes);
  #waiting: (() => void)[] = [];
  #nowMs = performance.now();

  constructor(authenticator: Authenticator) {
    this.#authenticator = authenticator;
    // One sweep over all requests is cheaper than timers and counters for each.
    this.#timer = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Begins a request. It belongs to the caller whose credential it shows or, without one, to the caller
   * of its connection. It is reset when that caller has its share of requests already.
   */
  begin(request: OpenRequest, authorization: string | undefined, connection: Connection): void {
    request.startedAtMs = this.#nowMs;
    this.#open.add(request);
    const known = authorization === undefined ? connection.subject : this.#authenticator.known(authorization)?.subject;
    if (known !== undefined) {
      connection.identify(known);
      this.#assign(request, known);
      return;
    }
    if (authorization === undefined) this.#addStranger(request, connection);
    else void this.#identify(request, authorization, connection);
  }

  async #identify(request: OpenRequest, authorization: string, connection: Connection): Promise<void> {
    this.#unverified.add(request);
    if (this.#unverified.size > maxOpenRequests) this.#resetOldest(this.#unverified.keys());
    try {
      const { subject } = await this.#authenticator.authenticate(authorization);
      connection.identify(subject);
      if (this.#unverified.has(request)) this.#assign(request, subject);
    } catch {
      // The call itself reports the bad credential.
      if (this.#unverified.delete(request)) this.#addStranger(request, connection);
    }
  }

  #addStranger(request: OpenRequest, connection: Connection): void {
    this.#strangers.set(request, connection);
    connection.strangersRequests += 1;
    if (this.#strangers.size > maxStrangersRequests) this.#resetOldest(this.#strangers.keys());
    const isMany = connection.strangersRequests > maxStrangersRequestsPerConnection;
    // To reset its requests one by one would cost more than to close the connection.
    if (isMany && connection.subject === undefined) request.disconnect();
  }

  /**
   * Counts the memory of a request that takes so many bytes now; false when the share of its caller is
   * used up. A stranger's request takes the memory of the oldest strangers, at the end its own.
   */
  reserve(request: OpenRequest, bytes: number): boolean {
    const more = bytes - request.bytes;
    if (bytes <= smallRequestBytes || more <= 0) return true;
    if (request.subject !== undefined) {
      if (!this.#bytes.take(request.subject, more)) return false;
      request.bytes = bytes;
      return true;
    }
    if (!this.#isStrange(request)) return false;
    request.bytes = bytes;
    this.#strangersBytes += more;
    while (this.#strangersBytes > maxStrangersBytes) this.#resetOldest(this.#strangers.keys(), this.#unverified.keys());
    return this.#isStrange(request);
  }

  /** Counts the memory of a request no longer. */
  release(request: OpenRequest): void {
    if (request.bytes === 0) return;
    if (request.subject !== undefined) this.#bytes.release(request.subject, request.bytes);
    else this.#strangersBytes -= request.bytes;
    request.bytes = 0;
  }

  end(request: OpenRequest): void {
    this.#open.delete(request);
    this.#forgetStranger(request);
    this.release(request);
    if (request.subject !== undefined) this.#requests.release(request.subject);
  }

  /**
   * Waits until a caller may be sent a large response: until it has read enough of those before. False
   * when it has not in its `maxWaitMs`. Rejects with the reason of its signal when that aborts.
   */
  async untilRead({ subject = '', signal, maxWaitMs = Number.POSITIVE_INFINITY }: Caller, bytes: number) {
    const startMs = performance.now();
    // The largest response goes to a caller that has read everything.
    while (!this.#unread.fits(subject, bytes) && this.#unread.heldBy(subject) > 0) {
      if (performance.now() - startMs > maxWaitMs) return false;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      signal.throwIfAborted();
    }
    this.#unread.add(subject, bytes);
    return true;
  }

  #assign(request: OpenRequest, subject: string): void {
    const { bytes } = request;
    this.#forgetStranger(request);
    request.subject = subject;
    const hasPlace = this.#requests.take(subject);
    if (!hasPlace) this.#requests.add(subject, 1);
    if (!hasPlace || !this.reserve(request, bytes)) request.reset();
  }

  #isStrange(request: OpenRequest): boolean {
    return this.#strangers.has(request) || this.#unverified.has(request);
  }

  /** Resets the first of these requests. */
  #resetOldest(...pots: Iterable<OpenRequest>[]): void {
    for (const pot of pots) {
      for (const request of pot) {
        this.#forgetStranger(request);
        request.reset();
        return;
      }
    }
  }

  #forgetStranger(request: OpenRequest): void {
    const connection = this.#strangers.get(request);
    if (connection !== undefined) connection.strangersRequests -= 1;
    if (this.#strangers.delete(request) || this.#unverified.delete(request)) this.release(request);
  }

  #sweep(): void {
    this.#nowMs = performance.now();
    this.#unread = new FairShare(maxUnreadBytes);
    for (const request of this.#open) {
      const { unread, subject } = request;
      if (unread > 0 && subject !== undefined) this.#unread.add(subject, unread);
      if (this.#isTooSlow(request, unread)) request.reset();
    }
    for (const resume of this.#waiting.splice(0)) resume();
  }

  #isTooSlow(request: OpenRequest, unread: number): boolean {
    if (this.#nowMs - request.startedAtMs > requestTimeoutMs && request.isArriving) return true;
    if (unread === request.lastUnread) {
      return unread > 0 && this.#nowMs - request.lastUnreadSinceMs > responseTimeoutMs;
    }
    request.lastUnread = unread;
    request.lastUnreadSinceMs = this.#nowMs;
    return false;
  }
}
