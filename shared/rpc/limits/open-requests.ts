import type { Authenticator } from '../../auth/authenticator.ts';
import type { Caller } from '../../db/caller.ts';
import { FairShare } from '../../fairness/fair-share.ts';
import type { Connection } from './connections.ts';
import {
  maxMessageBytes,
  maxRequestBytes,
  maxUnauthenticatedBytes,
  maxUnauthenticatedRequestsPerConnection,
  maxUnreadBytes,
  minRequestBytes,
  requestTimeoutMs,
  responseTimeoutMs,
} from './limits.ts';

// The highest compression ratio of deflate, and the memory of a zlib stream while it inflates.
const maxInflation = 1032;
const inflaterBytes = 48 * 1024;
const sweepMs = 50;

/** One request and its response, until the response has been read. */
export abstract class OpenRequest {
  readonly connection: Connection;
  /** The `sub` of its caller; undefined without a valid credential, and until that is verified. */
  subject: string | undefined;
  /** The memory that is reserved for it. */
  bytes = minRequestBytes;
  startedAtMs = 0;
  /** Its place among the open requests. */
  index = -1;
  /** The unread bytes at the last sweep, and since when they are that many. */
  lastUnread = 0;
  lastUnreadSinceMs = 0;
  readonly #requests: OpenRequests;
  readonly #isCompressed: boolean;
  readonly #headerBytes: number;

  /** @param rawHeaders header names and values, as Node received them. */
  constructor(requests: OpenRequests, connection: Connection, rawHeaders: readonly string[], isCompressed: boolean) {
    this.#requests = requests;
    this.connection = connection;
    this.#isCompressed = isCompressed;
    this.#headerBytes = rawHeaders.reduce((sum, part) => sum + part.length, 0);
  }

  /** The memory that the request may take after `size` bytes of its body. */
  memoryFor(size: number): number {
    const body = this.#isCompressed ? Math.min(size * maxInflation, maxMessageBytes) + inflaterBytes : size;
    return this.#headerBytes + body;
  }

  /** Reserves the memory that it may take after `size` bytes of its body. False if its caller has no memory left. */
  reserve(size: number): boolean {
    return this.#requests.reserve(this, this.memoryFor(size) - this.bytes);
  }

  /** Whether parts of the request are still to come. */
  abstract readonly isArriving: boolean;
  /** The bytes of the response that the client has not read. */
  abstract readonly unread: number;
  /** Aborts the request at once. */
  abstract reset(): void;
  /** Closes its connection at once. */
  abstract disconnect(): void;
}

/** Requests without a caller. When they exceed their memory, the oldest are reset. */
class OldestFirst {
  readonly #requests = new Set<OpenRequest>();
  #freeBytes: number;

  constructor(capacity: number) {
    this.#freeBytes = capacity;
  }

  add(request: OpenRequest): void {
    this.#requests.add(request);
    this.#take(request.bytes);
  }

  /** Reserves memory for a request that needs `more`. False if it is not one of these, or was reset as the oldest. */
  reserve(request: OpenRequest, more: number): boolean {
    if (!this.#requests.has(request)) return false;
    request.bytes += more;
    this.#take(more);
    return this.#requests.has(request);
  }

  #take(bytes: number): void {
    this.#freeBytes -= bytes;
    for (const oldest of this.#requests) {
      if (this.#freeBytes >= 0) return;
      this.delete(oldest);
      oldest.reset();
    }
  }

  delete(request: OpenRequest): boolean {
    const isDeleted = this.#requests.delete(request);
    if (isDeleted) this.#freeBytes += request.bytes;
    return isDeleted;
  }
}

/**
 * The open requests of a process, on both ports, by the memory that they hold. A caller has its share of the memory for
 * requests, and of the bytes that are sent but unread. Unauthenticated clients have a small memory of their own, so
 * that they never take that of callers; nor do requests whose credential is still being verified.
 */
export class OpenRequests {
  readonly #authenticator: Authenticator;
  readonly #open = new UnorderedList<OpenRequest>();
  readonly #bytes = new FairShare(maxRequestBytes);
  readonly #unverified = new OldestFirst(maxRequestBytes);
  readonly #unauthenticated = new OldestFirst(maxUnauthenticatedBytes);
  readonly #timer: NodeJS.Timeout;
  /** As of the last sweep, with the responses sent since. */
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
   * Begins a request. It belongs to the caller whose credential it shows or, without one, to the caller of its
   * connection. Resets it if that caller has no memory left.
   */
  begin(request: OpenRequest, authorization: string | undefined): void {
    const { connection } = request;
    request.startedAtMs = this.#nowMs;
    this.#open.add(request);
    const known = authorization === undefined ? connection.subject : this.#authenticator.known(authorization)?.subject;
    if (known !== undefined) this.#assign(request, known);
    else if (authorization === undefined) this.#addUnauthenticated(request);
    else void this.#identify(request, authorization);
  }

  async #identify(request: OpenRequest, authorization: string): Promise<void> {
    this.#unverified.add(request);
    try {
      const { subject } = await this.#authenticator.authenticate(authorization);
      if (this.#unverified.delete(request)) this.#assign(request, subject);
    } catch {
      // The call itself reports the invalid credential.
      if (this.#unverified.delete(request)) this.#addUnauthenticated(request);
    }
  }

  #addUnauthenticated(request: OpenRequest): void {
    const { unauthenticatedRequests, subject } = request.connection;
    unauthenticatedRequests.add(request);
    this.#unauthenticated.add(request);
    // Resetting its requests one by one would cost more than closing the connection.
    if (unauthenticatedRequests.size > maxUnauthenticatedRequestsPerConnection && subject === undefined)
      request.disconnect();
  }

  #assign(request: OpenRequest, subject: string): void {
    request.connection.identify(subject);
    request.subject = subject;
    if (this.#bytes.take(subject, request.bytes)) return;
    request.bytes = 0;
    request.reset();
  }

  /** Reserves memory for a request that needs `more`. False if its caller has no memory left. */
  reserve(request: OpenRequest, more: number): boolean {
    if (more <= 0) return true;
    const { subject } = request;
    if (subject === undefined)
      return this.#unverified.reserve(request, more) || this.#unauthenticated.reserve(request, more);
    const isReserved = this.#open.has(request) && this.#bytes.take(subject, more);
    if (isReserved) request.bytes += more;
    return isReserved;
  }

  /** Releases the memory of a request that has been decoded and stays open. */
  release(request: OpenRequest): void {
    const { subject, bytes } = request;
    if (subject === undefined) return void this.#unverified.reserve(request, minRequestBytes - bytes);
    this.#bytes.release(subject, bytes - minRequestBytes);
    request.bytes = minRequestBytes;
  }

  end(request: OpenRequest): void {
    const { subject, bytes, connection } = request;
    this.#open.delete(request);
    connection.unauthenticatedRequests.delete(request);
    if (subject !== undefined) this.#bytes.release(subject, bytes);
    else if (!this.#unverified.delete(request)) this.#unauthenticated.delete(request);
  }

  /**
   * Waits until a caller has read enough of its earlier responses to be sent another large one. False if it has not
   * within its `maxWaitMs`. Rejects with the reason of its signal when that aborts.
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

  #sweep(): void {
    this.#nowMs = performance.now();
    this.#unread = new FairShare(maxUnreadBytes);
    for (const request of this.#open.items) {
      const { unread, subject } = request;
      if (unread > 0 && subject !== undefined) this.#unread.add(subject, unread);
      else if (unread > request.bytes) this.#unauthenticated.reserve(request, unread - request.bytes);
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

/** An item that knows its place in an `UnorderedList`. It can be in one list at a time. */
interface Placed {
  index: number;
}

/**
 * A list without an order, which each call enters and leaves. A Set is rehashed all the time then, and V8 keeps its
 * earlier tables, with the calls in them, until the next full garbage collection (docs/performance.md has the figures).
 */
export class UnorderedList<Item extends Placed> {
  readonly items: Item[] = [];

  has(item: Item): boolean {
    return this.items[item.index] === item;
  }

  add(item: Item): void {
    item.index = this.items.length;
    this.items.push(item);
  }

  delete(item: Item): void {
    if (!this.has(item)) return;
    const last = this.items.pop();
    if (last === undefined || last === item) return;
    this.items[item.index] = last;
    last.index = item.index;
  }
}
