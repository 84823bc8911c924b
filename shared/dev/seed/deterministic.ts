/** 0 to `count - 1`. */
export function steps(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** The item at the index, counted round and round. */
export function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** `count` distinct ids of 1 to `max`, the same for the same `from`. */
export function spread(from: number, count: number, max: number): number[] {
  // Prime, so that it steps through every id before one comes again.
  const stride = 31;
  return steps(count)
    .map((index) => ((from * 13 + index * stride) % max) + 1)
    .sort((one, other) => one - other);
}

/** A moment so many hours from `now`. */
export function hoursFrom(now: Date, hours: number): string {
  return new Date(now.getTime() + hours * 3_600_000).toISOString();
}
