import type { JsonValue } from '@bufbuild/protobuf';
import type { Random } from './random.ts';

const oddInts = [
  ...[0n, -1n, 1n, 255n, 256n, 65_536n, 2n ** 31n - 1n, -(2n ** 31n), 2n ** 31n, -(2n ** 31n) - 1n],
  ...[2n ** 32n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n],
];

const oddDoubles = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, -1, 0.1, 1e-320, 5e-324],
  ...[1.7976931348623157e308, -1.7976931348623157e308, 2 ** 53, 1e21, 0.30000000000000004, 99.999, 1e15],
];

const oddDates = [
  ...['2026-02-31', '0000-01-01', '0001-01-01', '9999-12-31T23:59:59.999999Z', '10000-01-01', '-000001-01-01'],
  ...['2026-13-01', '2026-01-01T24:00:00Z', '2026-01-01T25:00', '2026-06-30T23:59:60Z', '1e3', '20260101', '2026'],
  ...['Sat, 01 Jan 2028 10:00:00 GMT', 'tomorrow', 'infinity', '-infinity', 'epoch', 'now()', '2028-01-01+14:00'],
  ...['2028-01-01T10:00:00+99:99', '2028-W01-1', '01/02/2028', '1000000000000000'],
  '2028-01-01T10:00:00.1234567890123Z',
];

const oddTexts = [
  ...['', ' ', '\0', 'a\0b', '\ud800', 'x\udfffy', '\u202eevil\u202c', 'مرحبا', '👩‍👩‍👧‍👦👨🏽', 'e\u0301\u0323'],
  ...['\ufeff', '\u2028\u2029', "'; drop table slots; --", "' or 1=1 --", '%', '_', '\\', '%_\\%', '$1', '{{x}}'],
  ...['<script>', '../../etc/passwd', '__proto__', 'constructor', 'toString', 'null', 'undefined', 'NaN'],
  ...['\r\nx-injected: 1', '\t\n', '\u0000\u0001\u001f', 'ﬁ', 'İ', 'ß', 'Ω'.repeat(129), 'a'.repeat(128)],
  ...['😀'.repeat(128), 'b'.repeat(200), 'c'.repeat(2_001)],
];

export const oddInt = (random: Random): bigint =>
  random.chance(0.8) ? random.pick(oddInts) : BigInt(random.int(-(2 ** 40), 2 ** 40));

export const oddDouble = (random: Random): number =>
  random.chance(0.8) ? random.pick(oddDoubles) : (random.next() - 0.5) * 10 ** random.int(-20, 40);

export const oddDate = (random: Random): string => random.pick(oddDates);

export function oddText(random: Random): string {
  if (random.chance(0.02)) return 'd'.repeat(10_000);
  if (random.chance(0.75)) return random.pick(oddTexts);
  return String.fromCharCode(...random.times(random.int(0, 40), () => random.int(0, 0xffff)));
}

/** Any JSON, often in the shapes of delivery sequences. */
export function anyJson(random: Random, depth = 0): JsonValue {
  const leaf = depth > 3 || random.chance(0.3);
  if (leaf) {
    return random.pick<JsonValue>([null, true, false, random.int(-5, 500), 1.5, 1e300, oddText(random), '']);
  }
  if (depth === 0 && random.chance(0.05))
    return nested(random.pick([31, 32, 33, 50, 99, 120, 1_000]), random.chance(0.5));
  if (random.chance(0.4)) return random.times(random.int(0, 6), () => anyJson(random, depth + 1));
  const isSequence = random.chance(0.6);
  const entries = random.times(random.int(0, 5), (): [string, JsonValue] =>
    isSequence
      ? [String(random.int(-1, 300)), random.times(random.int(0, 8), () => random.int(-3, 900))]
      : [oddText(random), anyJson(random, depth + 1)],
  );
  return Object.fromEntries(entries);
}

function nested(depth: number, inObjects: boolean): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level += 1) value = inObjects ? { a: value } : [value];
  return value;
}
