/** Random choices that repeat with their seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Each request of a run has choices of its own, so that it can be repeated without the others. */
  static of(seed: number, index: number): Random {
    const random = new Random(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35));
    random.next();
    return random;
  }

  /** A number from 0 to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** An integer from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  /** One of the items, which must not be empty. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.int(0, items.length - 1)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** One of the items, by their weights. */
  weighted<Item>(items: readonly [readonly [number, Item], ...(readonly [number, Item])[]]): Item {
    let left = this.next() * items.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, item] of items) {
      left -= weight;
      if (left < 0) return item;
    }
    return items[0][1];
  }

  times<Item>(count: number, make: () => Item): Item[] {
    return Array.from({ length: count }, make);
  }

  bytes(count: number): Buffer {
    return Buffer.from(this.times(count, () => this.int(0, 255)));
  }
}
