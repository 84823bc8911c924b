import type { Caller } from './caller.ts';
import { RoundRobin } from './round-robin.ts';

/**
 * How many times as much as is still free a caller may hold. With 2, one caller alone takes two thirds
 * of all places, and the next one finds the rest.
 */
const weight = 2;

interface Waiter {
  /** Ends the wait: with a place, or without one. */
  settle(hasPlace: boolean): void;
}

/**
 * Places that callers take and give back, such as the connections of a pool. A caller that has its
 * share, or that comes when all are taken, waits in a queue of its own. A free place goes to the
 * callers in turn, so that a caller waits behind itself and not behind the others.
 */
export class FairQueue {
  readonly #capacity: number;
  readonly #maxWaiting: number;
  readonly #waiters = new RoundRobin<Waiter>();
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
    this.#free -= 1;
    this.#held.set(subject, (this.#held.get(subject) ?? 0) + 1);
    return true;
  }

  /**
   * Waits for a place. Resolves with false when too many of the caller wait already, and when it has
   * waited for its `maxWaitMs`. Rejects with the reason of the caller's signal when that aborts.
   */
  take({ subject, signal, maxWaitMs }: Caller): Promise<boolean> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.tryTake(subject)) return resolve(true);
      if (this.#waiters.sizeOf(subject) >= this.#maxWaiting - this.waiting) return resolve(false);
      const leave = () => this.#waiters.delete(subject, waiter);
      const abort = () => {
        clearTimeout(timer);
        leave();
        reject(signal.reason);
      };
      const waiter = {
        settle: (hasPlace: boolean) => {
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          resolve(hasPlace);
        },
      };
      const giveUp = () => {
        leave();
        waiter.settle(false);
      };
      const timer = maxWaitMs === undefined ? undefined : setTimeout(giveUp, maxWaitMs);
      signal.addEventListener('abort', abort);
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
      let served: string | undefined;
      const waiter = this.#waiters.shift((subject) => {
        served = subject;
        return this.#isFreeFor(subject);
      });
      if (waiter === undefined) return;
      this.#free -= 1;
      this.#held.set(served, (this.#held.get(served) ?? 0) + 1);
      waiter.settle(true);
    }
  }

  #isFreeFor(subject: string | undefined): boolean {
    return (this.#held.get(subject) ?? 0) < weight * this.#free;
  }
}
