import type { Caller } from './caller.ts';
import { type Waiter, WaitingLine } from './waiting-line.ts';

/**
 * How many times as much as is still free a caller may hold. With 2, one caller alone takes two thirds
 * of all places, and the next one finds the rest.
 */
const weight = 2;

interface PlaceWaiter extends Waiter {
  takePlace(): void;
}

/**
 * Places that callers take and give back, such as the connections of a pool. A caller that has its
 * share, or that comes when all are taken, waits in a queue of its own. A free place goes to the
 * callers in turn, so that a caller waits behind itself and not behind the others.
 */
export class FairQueue {
  readonly #capacity: number;
  readonly #maxWaiting: number;
  readonly #waiters = new WaitingLine<PlaceWaiter>();
  /** The places that each caller holds, by `sub`. */
  readonly #held = new Map<string | undefined, number>();
  #free: number;

  /** @param maxWaiting how many may wait; a caller has its share of them, as in a `FairShare`. */
  constructor(capacity: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#capacity = capacity;
    this.#maxWaiting = maxWaiting;
    this.#free = capacity;
  }

  get taken(): number {
    return this.#capacity - this.#free;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** Takes a place that is free for this caller now; false when there is none. */
  tryTake(subject: string | undefined): boolean {
    if (this.#waiters.sizeOf(subject) > 0 || !this.#isFreeFor(subject)) return false;
    this.#hold(subject);
    return true;
  }

  /**
   * Waits for a place, which `tryTake` did not give. Resolves with false when too many of the caller wait
   * already, and when it has waited for its `maxWaitMs`. Rejects with the reason of the caller's signal
   * when that aborts.
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
      const takePlace = () => {
        signal.removeEventListener('abort', leave);
        this.#hold(subject);
        resolve(true);
      };
      const waiter = { untilMs: performance.now() + maxWaitMs, takePlace, leave };
      signal.addEventListener('abort', leave);
      this.#waiters.push(subject, waiter);
    });
  }

  /** Gives a caller's place back, to whoever waits for it. */
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
      waiter.takePlace();
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
