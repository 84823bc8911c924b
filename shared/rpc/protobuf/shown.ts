import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';

// Converts stored values for messages. Rows older than the constraints of migration 0015 may have values that no
// message can show. These functions omit the value and keep the rest of the row.

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Converts a time; undefined for null and for years outside 1 to 9999. The driver reads infinity as a number. */
export function shownTime(time: Date | number | null): Timestamp | undefined {
  const ms = time === null ? Number.NaN : time.valueOf();
  return ms >= firstMs && ms <= lastMs ? timestampFromMs(ms) : undefined;
}

/** Converts a time in epoch seconds, as `shownTime` does. Its microseconds are cut, not rounded. */
export function shownEpoch(seconds: number): Timestamp | undefined {
  return shownTime(Math.floor(Math.round(seconds * 1e6) / 1e3));
}

/** Converts a decimal; undefined for null, NaN and infinity. */
export function shownAmount(decimal: string | null): string | undefined {
  return decimal !== null && /\d$/.test(decimal) ? decimal : undefined;
}

/** Returns a copy of the list without nulls, with nested lists flattened. */
export function shownList<Item extends string | number>(list: readonly Item[]): Item[];
export function shownList(list: readonly unknown[]): unknown[] {
  const isOdd = (item: unknown) => typeof item === 'object';
  return list.some(isOdd) ? list.flat(6).filter((item) => !isOdd(item)) : [...list];
}
