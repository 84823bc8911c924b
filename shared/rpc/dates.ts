import { invalidField } from '../errors/errors.ts';

/** A date and time as it was written, with the offset of its zone. */
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
 * Reads a date: ISO 8601, or one of the forms that `Date.parse` takes beside it, in the years 1 to
 * 9999 (design 7). Without a zone it is UTC, whatever the zone of this process. Takes time in
 * proportion to the text's length.
 *
 * @returns undefined for a bare number, a day that does not exist, and all that is no date.
 */
export function parseDate(text: string): Date | undefined {
  const written = readIso(text.trim()) ?? readLoose(text);
  return written && toDate(written);
}

/** An input date that may be absent or empty. Throws INVALID_ARGUMENT that names the field. */
export function optionalDate(field: string, text: string | undefined): Date | null {
  return text === undefined || text === '' ? null : requiredDate(field, text);
}

/** An input date. Throws INVALID_ARGUMENT that names the field. */
export function requiredDate(field: string, text: string): Date {
  const date = parseDate(text);
  if (date === undefined) throw invalidField(field, 'is not a date, such as 2026-03-07T10:00:00Z');
  return date;
}

/** Undefined where a part is out of its range, as on 31 February. */
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

const comment = /\([^()]*\)/g;
const gap = /[\s,]+/g;
// All behind the minutes is optional: once they are read nothing is tried again.
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
 * Reads the other forms that people and programs write: `Mar 7, 2026`, `7 March 2026 10:15`,
 * `03/07/2026 5:00 PM`, `Sat, 07 Mar 2026 10:00:00 GMT`, and what `Date` itself prints. `Date.parse`
 * has to take the text too, but not to read it: it moves 31 February to March, and takes `foo 1`.
 */
function readLoose(text: string): WrittenTime | undefined {
  if (Number.isNaN(Date.parse(text))) return undefined;
  const plain = text.replace(comment, ' ').replace(gap, ' ').trim().toLowerCase();
  const match = clockAndZone.exec(plain);
  const [clock = '', hour = '0', minute = '0', second = '0', fraction, half, zone, ...offset] = match ?? [];
  const parts = (match === null ? plain : `${plain.slice(0, match.index)} ${plain.slice(match.index + clock.length)}`)
    .trim()
    .split(/ +/)
    .flatMap((word) => word.replace(/\.$/, '').split(/[/-]/));
  if (isName(parts[0], weekdays)) parts.shift();
  // Without a clock the zone is the last word.
  const zoneName = zone ?? (match === null && hoursOfZone.has(parts.at(-1) ?? '') ? parts.pop() : undefined);
  const zoneHours = hoursOfZone.get(zoneName ?? 'utc');
  const date = readDate(parts);
  if (date === undefined || zoneHours === undefined || (half !== undefined && Number(hour) > 12)) return undefined;
  return {
    ...date,
    hour: half === undefined ? Number(hour) : (Number(hour) % 12) + (half === 'p' ? 12 : 0),
    minute: Number(minute),
    second: Number(second),
    millisecond: readMilliseconds(fraction),
    offsetMinutes: offset[0] === undefined ? zoneHours * 60 : zoneHours === 0 ? readOffset(...offset) : Number.NaN,
  };
}

/** Reads a day, a month and a year in the orders that `Date.parse` knows; each must be there. */
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

/** Whether a word is one of the names, or at least three letters that one begins with. */
function isName(word: string | undefined, names: readonly string[]): boolean {
  return word !== undefined && word.length >= 3 && names.some((name) => name.startsWith(word));
}

/** A year of two digits is one from 1950 to 2049. */
function fullYear(year: number): number {
  return year < 50 ? 2000 + year : year < 100 ? 1900 + year : year;
}

function readMilliseconds(fraction = ''): number {
  return Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** NaN for an offset of a day or more. */
function readOffset(sign = '+', hours = '0', minutes = '0'): number {
  if (Number(hours) > 23 || Number(minutes) > 59) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
