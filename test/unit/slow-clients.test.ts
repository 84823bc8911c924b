import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  maxRequestStreams,
  maxUnreadBytes,
  requestTimeoutMs,
  responseTimeoutMs,
} from '../../shared/rpc/limits/limits.ts';
import { RequestStream, SlowClientGuard } from '../../shared/rpc/limits/slow-clients.ts';

const aMoment = 1_000;

class PlainExchange extends RequestStream {
  isArriving = false;
  unread = 0;
  isCut = false;

  reset(): void {
    this.isCut = true;
  }
}

describe('Of the callers of a port', () => {
  let callers: SlowClientGuard;
  beforeEach(() => {
    vi.useFakeTimers();
    callers = new SlowClientGuard();
  });
  afterEach(() => {
    callers.close();
    vi.useRealTimers();
  });

  function add(state: Partial<PlainExchange> = {}): PlainExchange {
    const stream = Object.assign(new PlainExchange(), state);
    callers.add(stream);
    return stream;
  }

  it('one is cut whose request has not come as a whole in time', () => {
    const slow = add({ isArriving: true });
    vi.advanceTimersByTime(requestTimeoutMs - aMoment);
    expect(slow.isCut).toBe(false);
    vi.advanceTimersByTime(2 * aMoment);
    expect(slow.isCut).toBe(true);
  });

  it('one stays whose answer takes longer', () => {
    const waiting = add();
    vi.advanceTimersByTime(10 * requestTimeoutMs);
    expect(waiting.isCut).toBe(false);
  });

  it('one is cut who reads nothing of an answer for so long', () => {
    const stuck = add({ unread: 1 });
    vi.advanceTimersByTime(responseTimeoutMs - aMoment);
    expect(stuck.isCut).toBe(false);
    vi.advanceTimersByTime(2 * aMoment);
    expect(stuck.isCut).toBe(true);
  });

  it('one stays who reads a little of an answer now and then', () => {
    const reading = add({ unread: 1_000 });
    for (let time = 0; time < 10; time += 1) {
      reading.unread -= 1;
      vi.advanceTimersByTime(responseTimeoutMs - aMoment);
    }
    expect(reading.isCut).toBe(false);
  });

  it('those are cut who were asked first to read, when too much is unread in all', () => {
    const half = maxUnreadBytes / 2;
    const streams = [add({ unread: half }), add(), add({ unread: half }), add({ unread: half })];
    vi.advanceTimersByTime(aMoment);
    expect(streams.map(({ isCut }) => isCut)).toEqual([true, false, false, false]);
  });

  it('one is cut at once who comes when too many are there, until one of them has left', () => {
    const first = add();
    for (let count = 1; count < maxRequestStreams; count += 1) add();
    expect(add().isCut).toBe(true);
    callers.delete(first);
    expect(add().isCut).toBe(false);
  });
});
