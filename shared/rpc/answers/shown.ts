// Converts stored values for answers. Rows older than the constraints of migration 0015 may have values that no answer
// can show. These functions omit the value and keep the rest of the row.

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Converts a time, also in epoch milliseconds; undefined for null and for years outside 1 to 9999. The driver reads
 * infinity as a number.
 */
export function shownTime(time: Date | number | null): string | undefined {
  const ms = time === null ? Number.NaN : time.valueOf();
  return ms >= firstMs && ms <= lastMs ? timeText(ms) : undefined;
}

/** Formats epoch milliseconds as protobuf's JSON does, which omits a zero fraction. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** Converts PostgreSQL's text of a time in UTC, as `shownTime` does. Its microseconds are cut, not rounded. */
export function shownTimeText(text: string): string | undefined {
  // The text of an infinite time, or of a year with more than four digits, has no hyphen here.
  if (text[4] !== '-' || text.endsWith('BC')) return undefined;
  const ms = text.slice(20, 23).padEnd(3, '0');
  return `${text.slice(0, 10)}T${text.slice(11, 19)}${ms === '000' ? '' : `.${ms}`}Z`;
}

/** Converts a decimal; undefined for null, NaN and infinity. */
export function shownAmount(decimal: string | null): string | undefined {
  return decimal !== null && /\d$/.test(decimal) ? decimal : undefined;
}

/** Returns the list without nulls, with nested lists flattened. */
export function shownList<Item extends string | number>(list: readonly Item[]): readonly Item[];
export function shownList(list: readonly unknown[]): readonly unknown[] {
  const isOdd = (item: unknown) => typeof item === 'object';
  return list.some(isOdd) ? list.flat(6).filter((item) => !isOdd(item)) : list;
}
