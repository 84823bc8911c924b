import type { Caller } from '../db/caller.ts';
import { type Waiter, WaitingLine } from './round-robin.ts';

/**
 * A caller may hold this many times the number of free permits. With 2, a single caller takes two thirds of all permits
 * and leaves the rest for the next one.
 */
const weight = 2;

interface PermitWaiter extends Waiter {
  takePermit(): void;
}

/**
 * A fair semaphore: callers take and release permits, such as pool connections. A caller with its full share,
 * or without a free permit, waits in its own queue. The queues take turns: a caller with many calls only delays itself.
 */
export class FairQueue {
  readonly #capacity: number;
  readonly #maxWaiting: number;
  readonly #waiters = new WaitingLine<PermitWaiter>();
  /** The number of permits that each caller holds, by `sub`. */
  readonly #held = new Map<string | undefined, number>();
  #free: number;

  /** @param maxWaiting the maximum number of waiting calls; each caller gets a share of them, as in a `FairShare`. */
  constructor(capacity: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
    this.#maxWaiting = maxWaiting;
    this.#free = capacity;
  }

  get taken(): number {
    return this.#capacity - this.#free;
  }

  /** The number of waiting calls. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Takes a permit; false if none is free for this caller now. */
  tryTake(subject: string | undefined): boolean {
    if (this.#waiters.sizeOf(subject) > 0 || !this.#isFreeFor(subject)) return false;
    this.#hold(subject);
    return true;
  }

  /**
   * Waits for a permit after `tryTake` failed. Resolves with false if the caller has too many waiting calls, or after
   * the caller's `maxWaitMs`. Rejects with the reason of the caller's signal when that aborts.
   */
  take({ subject, signal, maxWaitMs = Number.POSITIVE_INFINITY }: Caller): Promise<boolean> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#waiters.sizeOf(subject) >= this.#maxWaiting - this.waiting) return resolve(false);
      const leave = () => {
        signal.removeEventListener('abort', leave);
        this.#waiters.delete(subject, waiter);
        if (signal.aborted) reject(signal.reason);
        else resolve(false);
      };
      const takePermit = () => {
        signal.removeEventListener('abort', leave);
        this.#hold(subject);
        resolve(true);
      };
      const waiter = { untilMs: performance.now() + maxWaitMs, takePermit, leave };
      signal.addEventListener('abort', leave);
      this.#waiters.push(subject, waiter);
    });
  }

  /** Releases a caller's permit, and passes it on to the next waiter. */
  release(subject: string | undefined): void {
    const left = (this.#held.get(subject) ?? 0) - 1;
    if (left > 0) this.#held.set(subject, left);
    else this.#held.delete(subject);
    this.#free += 1;
    if (this.waiting > 0) this.#serve();
  }

  #serve(): void {
    while (this.#free > 0) {
      const waiter = this.#waiters.shift(this.#isFreeFor);
      if (waiter === undefined) return;
      waiter.takePermit();
    }
  }

  #hold(subject: string | undefined): void {
    this.#held.set(subject, (this.#held.get(subject) ?? 0) + 1);
    this.#free -= 1;
  }

  readonly #isFreeFor = (subject: string | undefined): boolean => {
    return (this.#held.get(subject) ?? 0) < weight * this.#free;
  };
}
