import type { Caller } from '../db/caller.ts';

/**
 * A caller may hold this many times the number of free permits. With 2, a single caller takes two thirds of all permits
 * and leaves the rest for the next one.
 */
const weight = 2;

interface PermitWaiter extends Waiter {
  takePermit(): void;
}

/**
 * A fair semaphore: callers take and release permits to execute. A caller with its full share,
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

interface Queue<Item> {
  readonly items: Set<Item>;
  /** Continues after the last item taken: a new iterator would walk over all deleted entries of the set. */
  readonly next: SetIterator<Item>;
}

/** Queues of items, one for each caller; the queues are served in turn. */
export class RoundRobin<Item> {
  /** The queues by `sub`, in the order of their turns. The key of the process itself is undefined. */
  readonly #queues = new Map<string | undefined, Queue<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of items in a caller's queue. */
  sizeOf(subject: string | undefined): number {
    return this.#queues.get(subject)?.items.size ?? 0;
  }

  /** All items. The consumer may delete items that it has received. */
  *items(): Iterable<Item> {
    for (const { items } of this.#queues.values()) yield* items;
  }

  push(subject: string | undefined, item: Item): void {
    let queue = this.#queues.get(subject);
    if (queue === undefined) {
      const items = new Set<Item>();
      queue = { items, next: items.values() };
      this.#queues.set(subject, queue);
    }
    queue.items.add(item);
    this.#size += 1;
  }

  delete(subject: string | undefined, item: Item): void {
    const items = this.#queues.get(subject)?.items;
    if (!items?.delete(item)) return;
    this.#size -= 1;
    if (items.size === 0) this.#queues.delete(subject);
  }

  /**
   * Takes the oldest item of the caller whose turn it is, and moves that caller to the end.
   *
   * @param isServed whether a caller may be served now; the others keep their turn.
   * @returns undefined when no caller may be served.
   */
  shift(isServed: (subject: string | undefined) => boolean = () => true): Item | undefined {
    for (const [subject, queue] of this.#queues) {
      if (!isServed(subject)) continue;
      const { value } = queue.next.next();
      if (value === undefined) continue;
      this.delete(subject, value);
      if (queue.items.size > 0 && this.#queues.size > 1) {
        this.#queues.delete(subject);
        this.#queues.set(subject, queue);
      }
      return value;
    }
    return undefined;
  }
}

/** How late an expired wait may end. One shared timer is far cheaper than one per wait. */
const lateMs = 250;

/** A waiting call. */
export interface Waiter {
  /** The end of the wait, by `performance.now()`. */
  readonly untilMs: number;
  /** Ends the wait without a turn and removes the waiter from the line. */
  leave(): void;
}

/** One queue of waiters per caller, served in turn. A waiter whose time has run out leaves. */
export class WaitingLine<Item extends Waiter> extends RoundRobin<Item> {
  #timer: NodeJS.Timeout | undefined;

  override push(subject: string | undefined, waiter: Item): void {
    super.push(subject, waiter);
    this.#timer ??= setTimeout(() => this.#endLongWaits(), lateMs);
  }

  #endLongWaits(): void {
    const nowMs = performance.now();
    for (const waiter of this.items()) if (waiter.untilMs <= nowMs) waiter.leave();
    this.#timer = this.size > 0 ? setTimeout(() => this.#endLongWaits(), lateMs) : undefined;
  }
}
