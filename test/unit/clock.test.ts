import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseClock } from '../../shared/clock/clock.ts';

describe("The database's clock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('The time goes on between answers, whatever becomes of the clock of the machine', () => {
    const clock = new DatabaseClock();
    clock.learn(5_000_000, performance.now());
    vi.advanceTimersByTime(700);
    vi.setSystemTime(99_000_000);
    expect([clock.now(), clock.offsetMs]).toEqual([5_000_700, 94_000_000 - 700]);
  });

  it('An answer sets the time no further than it proves: it was given between question and answer', () => {
    const clock = new DatabaseClock();
    const sentAtMs = performance.now();
    vi.advanceTimersByTime(100);
    for (const serverMs of [1_000_000, 1_000_050, 1_000_100]) {
      clock.learn(serverMs, sentAtMs);
      expect(clock.now()).toBe(1_000_100);
    }
    clock.learn(1_000_150, sentAtMs);
    expect(clock.now()).toBe(1_000_150);
    clock.learn(900_000, sentAtMs);
    expect(clock.now()).toBe(900_100);
  });
});
