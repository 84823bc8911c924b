import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';

// Converts stored values for messages. Rows older than the constraints of migration 0015 may have values that no
// message can show. These functions omit the value and keep the rest of the row.

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** Whether a time, in epoch milliseconds, is in the years 1 to 9999. The driver reads infinity as a number. */
const isShownTime = (ms: Date | number) => Number(ms) >= firstMs && Number(ms) <= lastMs;

/** Converts a time; undefined for null and for years outside 1 to 9999. */
export function shownTime(time: Date | null): Timestamp | undefined {
  return time !== null && isShownTime(time) ? timestampFromMs(Number(time)) : undefined;
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
