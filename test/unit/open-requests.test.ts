import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import type { Connection } from '../../shared/rpc/limits/connections.ts';
import * as limits from '../../shared/rpc/limits/limits.ts';
import { OpenRequest, OpenRequests } from '../../shared/rpc/limits/open-requests.ts';
import { everybody } from '../support/served.ts';

const { maxRequestBytes, maxUnauthenticatedBytes, maxUnauthenticatedRequestsPerConnection } = limits;
const { maxUnreadBytes, minRequestBytes, requestTimeoutMs, responseTimeoutMs } = limits;
const aMoment = 1_000;
const mebibyte = 1024 * 1024;
const maxOpenRequests = maxRequestBytes / minRequestBytes;
const maxStrangersRequests = maxUnauthenticatedBytes / minRequestBytes;

class PlainRequest extends OpenRequest {
  isArriving = false;
  unread = 0;
  isReset = false;
  isDisconnected = false;

  reset(): void {
    this.isReset = true;
  }

  disconnect(): void {
    this.isDisconnected = true;
  }
}

/** Knows the callers by their headers, once they have been verified. */
class Headers {
  readonly verified = new Set<string>();

  async authenticate(authorization = 'bad') {
    if (authorization.startsWith('bad')) throw new Error('a bad credential');
    // Without this it would be verified at once.
    await Promise.resolve();
    this.verified.add(authorization);
    return everybody.authenticate(authorization);
  }

  known(authorization = '') {
    return this.verified.has(authorization) ? everybody.known(authorization) : undefined;
  }
}

describe('The open requests of a process', () => {
  let headers: Headers;
  let requests: OpenRequests;
  beforeEach(() => {
    vi.useFakeTimers();
    headers = new Headers();
    requests = new OpenRequests(headers);
  });
  afterEach(() => {
    requests.close();
    vi.useRealTimers();
  });

  function connection(subject?: string): Connection & { identified: string[] } {
    const identified: string[] = [];
    const counts = { resets: 0, isEnding: false, countReset: () => false };
    const identify = (each: string) => identified.push(each);
    return { subject, socket: new Socket(), unauthenticatedRequests: new Set(), identified, identify, ...counts };
  }

  function begin(authorization?: string, state: Partial<PlainRequest> = {}, over = connection()): PlainRequest {
    const request = Object.assign(new PlainRequest(requests, over, [], false), state);
    requests.begin(request, authorization);
    return request;
  }

  /** A request of a caller whose token is known. */
  function beginKnown(subject: string, state: Partial<PlainRequest> = {}): PlainRequest {
    headers.verified.add(subject);
    return begin(subject, state);
  }

  const countOf = (count: number, start: () => PlainRequest) => Array.from({ length: count }, start);

  it('A request that has not arrived in time is reset', () => {
    const slow = beginKnown('caller', { isArriving: true });
    vi.advanceTimersByTime(requestTimeoutMs - aMoment);
    expect(slow.isReset).toBe(false);
    vi.advanceTimersByTime(2 * aMoment);
    expect(slow.isReset).toBe(true);
  });

  it('A request whose response takes long is not reset', () => {
    const waiting = beginKnown('caller');
    vi.advanceTimersByTime(10 * requestTimeoutMs);
    expect(waiting.isReset).toBe(false);
  });

  it('A response of which nothing is read for too long is reset, and one that is read slowly is not', () => {
    const stuck = beginKnown('caller', { unread: 1 });
    const slow = beginKnown('caller', { unread: 1_000_000 });
    for (let passed = 0; passed <= responseTimeoutMs; passed += aMoment) {
      slow.unread -= 1;
      vi.advanceTimersByTime(aMoment);
    }
    expect(stuck.isReset).toBe(true);
    expect(slow.isReset).toBe(false);
  });

  it('Of more strangers than may be open, the oldest are reset, and no request of a caller', () => {
    const known = beginKnown('caller');
    const strangers = countOf(maxStrangersRequests + 2, () => begin());
    expect(known.isReset).toBe(false);
    expect(strangers.map(({ isReset }) => isReset)).toEqual([true, true, ...strangers.slice(2).map(() => false)]);
  });

  it('A request belongs to its caller as soon as the credential is verified, whatever comes of the strangers', async () => {
    const over = connection();
    const first = begin('caller', {}, over);
    await vi.advanceTimersByTimeAsync(0);
    expect(over.identified).toEqual(['caller']);
    countOf(maxStrangersRequests + 1, () => begin());
    expect(first.isReset).toBe(false);
  });

  it('A request whose credential is being verified makes no room for strangers', () => {
    const verifying = countOf(maxStrangersRequests + 1, () => begin('caller'));
    countOf(maxStrangersRequests + 1, () => begin());
    expect(verifying.some(({ isReset }) => isReset)).toBe(false);
  });

  it('Of more requests with a credential to verify than may be open, the oldest are reset', () => {
    const verifying = countOf(maxOpenRequests + 1, () => begin('caller'));
    expect(verifying.map(({ isReset }) => isReset).indexOf(false)).toBe(1);
  });

  it('A request with a bad credential is one of a stranger', async () => {
    const bad = begin('bad');
    await vi.advanceTimersByTimeAsync(0);
    countOf(maxStrangersRequests, () => begin());
    expect(bad.isReset).toBe(true);
  });

  it('A request without a credential belongs to the caller of its connection', () => {
    const health = begin(undefined, {}, connection('caller'));
    countOf(maxStrangersRequests + 1, () => begin());
    expect(health.isReset).toBe(false);
  });

  it('A connection without a caller is closed when it has more than ten requests without a credential', () => {
    const over = connection();
    const own = countOf(maxUnauthenticatedRequestsPerConnection, () => begin(undefined, {}, over));
    expect(own.some(({ isDisconnected }) => isDisconnected)).toBe(false);
    const [first] = own;
    if (first !== undefined) requests.end(first);
    expect(begin(undefined, {}, over).isDisconnected).toBe(false);
    expect(begin(undefined, {}, over).isDisconnected).toBe(true);
  });

  it('Requests whose credential is still being verified do not close their connection', async () => {
    const over = connection();
    const many = countOf(2 * maxUnauthenticatedRequestsPerConnection, () => begin('caller', {}, over));
    await vi.advanceTimersByTimeAsync(0);
    expect(many.some(({ isDisconnected }) => isDisconnected)).toBe(false);
  });

  it('A caller has its share of the open requests, and another one is not affected', () => {
    const own = countOf(maxOpenRequests / 2, () => beginKnown('busy'));
    expect(own.some(({ isReset }) => isReset)).toBe(false);
    expect(beginKnown('busy').isReset).toBe(true);
    expect(beginKnown('calm').isReset).toBe(false);
  });

  it('A request that has ended leaves its share', () => {
    const [first] = countOf(maxOpenRequests / 2, () => beginKnown('busy'));
    if (first !== undefined) requests.end(first);
    expect(beginKnown('busy').isReset).toBe(false);
  });

  it('A caller has its share of the memory for large requests, and another one is not affected', () => {
    const half = maxRequestBytes / 2;
    const first = beginKnown('busy');
    expect(first.reserve(half)).toBe(true);
    expect(beginKnown('busy').reserve(mebibyte)).toBe(false);
    expect(beginKnown('calm').reserve(mebibyte)).toBe(true);
    requests.end(first);
    expect(beginKnown('busy').reserve(mebibyte)).toBe(true);
  });

  it('A large request of a stranger takes the memory of the oldest strangers, and none of a caller', () => {
    const [oldest, newest, known] = [begin(), begin(), beginKnown('caller')];
    expect(oldest.reserve(maxUnauthenticatedBytes - minRequestBytes)).toBe(true);
    expect(newest.reserve(mebibyte)).toBe(true);
    expect(oldest.isReset).toBe(true);
    expect(newest.isReset).toBe(false);
    expect(oldest.reserve(maxUnauthenticatedBytes)).toBe(false);
    expect(known.reserve(maxRequestBytes / 2)).toBe(true);
    expect(begin().reserve(2 * maxUnauthenticatedBytes)).toBe(false);
  });

  it('The memory of a stranger moves to the share of its caller', async () => {
    const request = begin('caller');
    expect(request.reserve(maxUnauthenticatedBytes)).toBe(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(begin().reserve(maxUnauthenticatedBytes)).toBe(true);
    expect(beginKnown('caller').reserve(maxRequestBytes / 2)).toBe(false);
    expect(request.isReset).toBe(false);
  });

  it('A large response waits until its caller has read enough of those before, and that of another caller does not', async () => {
    const signal = new CallSignal();
    const unread = beginKnown('busy', { unread: maxUnreadBytes / 2 });
    vi.advanceTimersByTime(aMoment);
    let isSent = false;
    void requests.untilRead({ subject: 'busy', signal }, mebibyte).then((sent) => {
      isSent = sent;
    });
    await vi.advanceTimersByTimeAsync(aMoment);
    expect(isSent).toBe(false);
    expect(await requests.untilRead({ subject: 'calm', signal }, mebibyte)).toBe(true);
    unread.unread = 0;
    await vi.advanceTimersByTimeAsync(aMoment);
    expect(isSent).toBe(true);
  });

  it('A large response waits for its reader no longer than its caller allows', async () => {
    beginKnown('busy', { unread: maxUnreadBytes });
    vi.advanceTimersByTime(aMoment);
    const caller = { subject: 'busy', signal: new CallSignal(), maxWaitMs: aMoment };
    const waiting = requests.untilRead(caller, mebibyte);
    await vi.advanceTimersByTimeAsync(2 * aMoment);
    expect(await waiting).toBe(false);
  });

  it('A large response that waits for its reader ends with the signal of its caller', async () => {
    beginKnown('busy', { unread: maxUnreadBytes });
    vi.advanceTimersByTime(aMoment);
    const signal = new CallSignal();
    const waiting = expect(requests.untilRead({ subject: 'busy', signal }, mebibyte)).rejects.toThrow('canceled');
    signal.abort(() => new Error('canceled'));
    await vi.advanceTimersByTimeAsync(aMoment);
    await waiting;
  });

  it('What strangers have not read of their answers counts in their memory: the oldest of them are reset', () => {
    const unread = mebibyte;
    const most = maxUnauthenticatedBytes / unread;
    const opened = countOf(most + 2, () => begin(undefined, { unread }));
    const caller = beginKnown('caller', { unread });
    vi.advanceTimersByTime(aMoment);
    expect(opened.map(({ isReset }) => isReset)).toEqual(opened.map((_, at) => at < 2));
    expect(caller.isReset).toBe(false);
  });

  it('What strangers have read of their answers does not count', () => {
    const opened = countOf(20, () => begin(undefined, { unread: minRequestBytes }));
    vi.advanceTimersByTime(aMoment);
    expect(opened.some(({ isReset }) => isReset)).toBe(false);
  });
});
