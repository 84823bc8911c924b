/** Formats epoch milliseconds as protobuf's JSON does, which omits a zero fraction. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/**
 * Converts a `timestamp` in UTC, of which PostgreSQL has made JSON such as `"2030-01-31T10:00:00.5"`, to RFC 3339. Its
 * microseconds are cut, not rounded.
 */
export function jsonTimeText(json: string): string {
  const ms = json.slice(21, -1).slice(0, 3).padEnd(3, '0');
  return `${json.slice(1, 20)}${ms === '000' ? '' : `.${ms}`}Z`;
}
