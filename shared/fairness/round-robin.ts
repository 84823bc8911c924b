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
