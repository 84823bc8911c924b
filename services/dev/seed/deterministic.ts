/** Returns the numbers from 0 to `count - 1`. */
export function steps(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Returns the item at the index, which starts over at the end of the list. */
export function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** Returns `count` distinct ids between 1 and `max`, in ascending order. The same `from` gives the same ids. */
export function spread(from: number, count: number, max: number): number[] {
  // A prime, so that every id comes before any is repeated.
  const stride = 31;
  return steps(count)
    .map((index) => ((from * 13 + index * stride) % max) + 1)
    .sort((one, other) => one - other);
}

/** Returns the time that is `hours` after `now`, in ISO 8601. */
export function hoursFrom(now: Date, hours: number): string {
  return new Date(now.getTime() + hours * 3_600_000).toISOString();
}
