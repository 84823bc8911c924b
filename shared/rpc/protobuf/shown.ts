import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';

// What a message shows of a stored value. A row from before the constraints that keep odd values out (migration 0015) may have one:
// it is left out, and the rest of the row is shown.

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether a time, in epoch milliseconds, is within the years 1 to 9999. The driver reads infinity as a number. */
export const isShownTime = (ms: Date | number) => Number(ms) >= firstMs && Number(ms) <= lastMs;

/** A time as a `Timestamp`; undefined for none, and for one beyond the years 1 to 9999. */
export function shownTime(time: Date | null): Timestamp | undefined {
  return time !== null && isShownTime(time) ? timestampFromMs(Number(time)) : undefined;
}

/** A decimal; undefined for none, and for NaN and infinity. */
export function shownAmount(decimal: string | null): string | undefined {
  return decimal !== null && /\d$/.test(decimal) ? decimal : undefined;
}

/** A list without nulls and inner lists. It is the given one where it has none. */
export function shownList<Item extends string | number>(list: readonly Item[]): Item[];
export function shownList(list: readonly unknown[]): unknown[] {
  const isOdd = (item: unknown) => typeof item === 'object';
  return list.some(isOdd) ? list.flat(6).filter((item) => !isOdd(item)) : [...list];
}
