import { invalidField } from '../errors/errors.ts';

/** The parts of a date and time as written, with the offset of the time zone. */
interface WrittenTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  readonly offsetMinutes: number;
}

/**
 * Parses a date in ISO 8601 or another form that `Date.parse` accepts, in the years 1 to 9999 (design 7). A date
 * without a time zone is UTC, regardless of the process's zone. Parsing takes time linear in the length of the text.
 *
 * @returns undefined for a bare number, for a day that does not exist, and for any other text that is not a date.
 */
export function parseDate(text: string): Date | undefined {
  const written = readIso(text.trim()) ?? readLoose(text);
  return written && toDate(written);
}

/** Parses an input date; null when it is absent or empty. Throws INVALID_ARGUMENT for the field. */
export function optionalDate(field: string, text: string | undefined): Date | null {
  return text === undefined || text === '' ? null : requiredDate(field, text);
}

/** Parses an input date. Throws INVALID_ARGUMENT for the field. */
export function requiredDate(field: string, text: string): Date {
  const date = parseDate(text);
  if (date === undefined) throw invalidField(field, 'is not a date, such as 2026-03-07T10:00:00Z');
  return date;
}

/** Returns undefined if a part is out of range, as in 31 February. */
function toDate({ year, month, day, hour, minute, second, millisecond, offsetMinutes }: WrittenTime): Date | undefined {
  const isEndOfDay = hour === 24 && minute === 0 && second === 0 && millisecond === 0;
  if ((hour > 23 && !isEndOfDay) || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute - offsetMinutes, second, millisecond);
  const utcYear = date.getUTCFullYear();
  return utcYear >= 1 && utcYear <= 9999 ? date : undefined;
}

const iso =
  /^(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?\s*(?:Z|([+-])(\d{2})(?::?(\d{2}))?)?)?)?$/i;

function readIso(text: string): WrittenTime | undefined {
  const match = iso.exec(text);
  if (match === null) return undefined;
  const [, year, month, day = '1', hour = '0', minute = '0', second = '0', fraction, ...offset] = match;
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    millisecond: readMilliseconds(fraction),
    offsetMinutes: readOffset(...offset),
  };
}

const parenthesized = /\([^()]*\)/g;
const separators = /[\s,]+/g;
// Every group after the minutes is optional, so the expression never backtracks over them.
const clockAndZone =
  /(?<!\d)(\d{1,2}):(\d{2})(?!\d)(?::(\d{2})(?!\d)(?:\.(\d+))?)?(?: ?([ap])m(?![a-z]))?(?: ?(utc?|gmt|z|[ecmp][sd]t)(?![a-z]))?(?: ?([+-])(\d{1,2})(?::?(\d{2}))?(?!\d))?/i;

const months = 'january february march april may june july august september october november december'.split(' ');
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const hoursOfZone = new Map([
  ...['utc', 'ut', 'gmt', 'z'].map((name) => [name, 0] as const),
  ...['e', 'c', 'm', 'p'].flatMap((letter, at) => [
    [`${letter}st`, -5 - at] as const,
    [`${letter}dt`, -4 - at] as const,
  ]),
]);

/**
 * Parses other common forms: `Mar 7, 2026`, `7 March 2026 10:15`, `03/07/2026 5:00 PM`, `Sat, 07 Mar 2026 10:00:00
 * GMT`, and the output of `Date` itself. `Date.parse` must accept the text too, but its result is not used: it moves 31
 * February to March, and accepts `foo 1`.
 */
function readLoose(text: string): WrittenTime | undefined {
  if (Number.isNaN(Date.parse(text))) return undefined;
  const plain = text.replace(parenthesized, ' ').replace(separators, ' ').trim().toLowerCase();
  const match = clockAndZone.exec(plain);
  const [clock = '', hour = '0', minute = '0', second = '0', fraction, meridiem, zone, ...offset] = match ?? [];
  const parts = (match === null ? plain : `${plain.slice(0, match.index)} ${plain.slice(match.index + clock.length)}`)
    .trim()
    .split(/ +/)
    .flatMap((word) => word.replace(/\.$/, '').split(/[/-]/));
  if (isName(parts[0], weekdays)) parts.shift();
  // Without a clock time, the zone is the last word.
  const zoneName = zone ?? (match === null && hoursOfZone.has(parts.at(-1) ?? '') ? parts.pop() : undefined);
  const zoneHours = hoursOfZone.get(zoneName ?? 'utc');
  const date = readDate(parts);
  if (date === undefined || zoneHours === undefined || (meridiem !== undefined && Number(hour) > 12)) return undefined;
  return {
    ...date,
    hour: meridiem === undefined ? Number(hour) : (Number(hour) % 12) + (meridiem === 'p' ? 12 : 0),
    minute: Number(minute),
    second: Number(second),
    millisecond: readMilliseconds(fraction),
    offsetMinutes: offset[0] === undefined ? zoneHours * 60 : zoneHours === 0 ? readOffset(...offset) : Number.NaN,
  };
}

/** Parses a day, a month and a year in one of the orders that `Date.parse` knows. All three are required. */
function readDate(parts: readonly string[]): Pick<WrittenTime, 'year' | 'month' | 'day'> | undefined {
  if (parts.length !== 3) return undefined;
  const words = parts.filter((part) => !/^\d+$/.test(part));
  const [first = 0, second = 0, third = 0] = parts.filter((part) => !words.includes(part)).map(Number);
  const isDay = first >= 1 && first <= 31;
  const [name] = words;
  if (words.length > 1) return undefined;
  if (name !== undefined) {
    const month = months.findIndex((each) => isName(name, [each])) + 1;
    if (month === 0) return undefined;
    return isDay ? { year: fullYear(second), month, day: first } : { year: fullYear(first), month, day: second };
  }
  return isDay
    ? { year: fullYear(third), month: first, day: second }
    : { year: fullYear(first), month: second, day: third };
}

/** Whether a word is one of the names, or abbreviates one to at least three letters. */
function isName(word: string | undefined, names: readonly string[]): boolean {
  return word !== undefined && word.length >= 3 && names.some((name) => name.startsWith(word));
}

/** Expands a two-digit year to one from 1950 to 2049. */
function fullYear(year: number): number {
  return year < 50 ? 2000 + year : year < 100 ? 1900 + year : year;
}

/** Converts a fraction of a second, with any number of digits, to milliseconds. */
function readMilliseconds(fraction = ''): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** Returns an offset in minutes; NaN for an offset of a day or more. */
function readOffset(sign = '+', hours = '0', minutes = '0'): number {
  if (Number(hours) > 23 || Number(minutes) > 59) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
