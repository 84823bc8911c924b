// Converts stored values for answers. Rows older than the constraints of migration 0015 may have values that no answer
// can show. These functions omit the value and keep the rest of the row.

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Converts a time, also one in epoch milliseconds, to epoch milliseconds; undefined for null and for years outside 1 to
 * 9999. The driver reads infinity as a number.
 */
export function shownTime(time: Date | number | null): number | undefined {
  const ms = time === null ? Number.NaN : time.valueOf();
  return ms >= firstMs && ms <= lastMs ? ms : undefined;
}

/** Formats epoch milliseconds as protobuf's JSON does, which omits a zero fraction. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/**
 * Converts a `timestamp` in UTC, of which PostgreSQL has made JSON such as `"2030-01-31T10:00:00.5"`, to RFC 3339;
 * undefined where `shownTime` is. Its microseconds are cut, not rounded.
 */
export function shownJsonTime(json: string): string | undefined {
  // An infinite time, or a year with more than four digits, has no hyphen here.
  if (json[5] !== '-' || json.endsWith('BC"')) return undefined;
  const ms = json.slice(21, -1).slice(0, 3).padEnd(3, '0');
  return `${json.slice(1, 20)}${ms === '000' ? '' : `.${ms}`}Z`;
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
