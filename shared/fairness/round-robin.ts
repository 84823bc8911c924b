/** Queues of items, one for each caller; the queues are served in turn. */
export class RoundRobin<Item> {
  /** By `sub`; undefined is the process itself. The one whose turn is next comes first. */
  readonly #queues = new Map<string | undefined, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many items a caller has in its queue. */
  sizeOf(subject: string | undefined): number {
    return this.#queues.get(subject)?.size ?? 0;
  }

  push(subject: string | undefined, item: Item): void {
    const queue = this.#queues.get(subject);
    if (queue === undefined) this.#queues.set(subject, new Set([item]));
    else queue.add(item);
    this.#size += 1;
  }

  delete(subject: string | undefined, item: Item): void {
    const queue = this.#queues.get(subject);
    if (!queue?.delete(item)) return;
    this.#size -= 1;
    if (queue.size === 0) this.#queues.delete(subject);
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
      this.#queues.delete(subject);
      for (const item of queue) {
        queue.delete(item);
        this.#size -= 1;
        if (queue.size > 0) this.#queues.set(subject, queue);
        return item;
      }
    }
    return undefined;
  }
}
