import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  maxRequestStreams,
  maxUnreadBytes,
  requestTimeoutMs,
  responseTimeoutMs,
} from '../../shared/rpc/limits/limits.ts';
import { RequestStream, SlowClientGuard } from '../../shared/rpc/limits/slow-clients.ts';

const aMoment = 1_000;

class PlainStream extends RequestStream {
  isArriving = false;
  unread = 0;
  isReset = false;

  reset(): void {
    this.isReset = true;
  }
}

describe('The guard against slow clients', () => {
  let guard: SlowClientGuard;
  beforeEach(() => {
    vi.useFakeTimers();
    guard = new SlowClientGuard();
  });
  afterEach(() => {
    guard.close();
    vi.useRealTimers();
  });

  function add(state: Partial<PlainStream> = {}): PlainStream {
    const stream = Object.assign(new PlainStream(), state);
    guard.add(stream);
    return stream;
  }

  it('A request that has not arrived in time is reset', () => {
    const slow = add({ isArriving: true });
    vi.advanceTimersByTime(requestTimeoutMs - aMoment);
    expect(slow.isReset).toBe(false);
    vi.advanceTimersByTime(2 * aMoment);
    expect(slow.isReset).toBe(true);
  });

  it('A request whose response takes long is not reset', () => {
    const waiting = add();
    vi.advanceTimersByTime(10 * requestTimeoutMs);
    expect(waiting.isReset).toBe(false);
  });

  it('A response of which nothing is read for too long is reset', () => {
    const stuck = add({ unread: 1 });
    vi.advanceTimersByTime(responseTimeoutMs - aMoment);
    expect(stuck.isReset).toBe(false);
    vi.advanceTimersByTime(2 * aMoment);
    expect(stuck.isReset).toBe(true);
  });

  it('A response that is read slowly is not reset', () => {
    const reading = add({ unread: 1_000 });
    for (let time = 0; time < 10; time += 1) {
      reading.unread -= 1;
      vi.advanceTimersByTime(responseTimeoutMs - aMoment);
    }
    expect(reading.isReset).toBe(false);
  });

  it('When too many bytes of responses are unread, the oldest are reset', () => {
    const half = maxUnreadBytes / 2;
    const streams = [add({ unread: half }), add(), add({ unread: half }), add({ unread: half })];
    vi.advanceTimersByTime(aMoment);
    expect(streams.map(({ isReset }) => isReset)).toEqual([true, false, false, false]);
  });

  it('A request beyond the limit is reset at once, until another one has ended', () => {
    const first = add();
    for (let count = 1; count < maxRequestStreams; count += 1) add();
    expect(add().isReset).toBe(true);
    guard.delete(first);
    expect(add().isReset).toBe(false);
  });
});
