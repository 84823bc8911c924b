import { invalidField } from './errors.ts';

const iso =
  /^(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?)?$/i;
// Where Date.parse would see a zone: a name, or an offset behind a time.
const zone =
  /(?:\b(?:UTC|GMT|UT|[ECMP][SD]T)\b|(?<=\d)\s*Z\b)\s*(?:[+-]\d{1,2}:?\d{0,2})?|(?<=:\d{2}(?:\.\d+)?\s*(?:[AP]M)?\s*)[+-]\d{1,2}:?\d{0,2}/gi;
const clock = /\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?/g;

/**
 * Reads a date: ISO 8601, or what `Date.parse` takes beside it, in the years 1 to 9999 (design 7).
 * Without a zone it is UTC, whatever the zone of this process.
 *
 * @returns undefined for a bare number, a day that does not exist, and all that is no date.
 */
export function parseDate(text: string): Date | undefined {
  const trimmed = text.trim();
  if (/^[+-]?[\d.]+$/.test(trimmed)) return undefined;
  const match = iso.exec(trimmed);
  const time = match ? isoTime(match) : looseTime(trimmed);
  if (time === undefined || Number.isNaN(time)) return undefined;
  const date = new Date(time);
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999 ? date : undefined;
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

function isoTime(match: RegExpExecArray): number | undefined {
  const part = (index: number, unset = 0) => (match[index] === undefined ? unset : Number(match[index]));
  const [year, month, day] = [part(1), part(2), part(3, 1)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const endOfDay = hour === 24 && minute === 0 && second === 0 && milliseconds === 0;
  if ((hour > 23 && !endOfDay) || minute > 59 || second > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  date.setUTCHours(hour, minute, second, milliseconds);
  const offset = offsetMinutes(match[8]);
  return offset === undefined ? undefined : date.getTime() - offset * 60_000;
}

function offsetMinutes(zoneText: string | undefined): number | undefined {
  if (zoneText === undefined || zoneText.toUpperCase() === 'Z') return 0;
  const digits = zoneText.slice(1).replace(':', '');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2) || '0');
  if (hours > 23 || minutes > 59) return undefined;
  return (zoneText.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** What only `Date.parse` understands; it rolls 31 February over, so its day is looked for. */
function looseTime(text: string): number | undefined {
  const withoutZone = text.replace(zone, ' ');
  const wall = new Date(Date.parse(`${withoutZone} UTC`));
  if (Number.isNaN(wall.getTime())) return undefined;
  const numbers = (withoutZone.replace(clock, ' ').match(/\d+/g) ?? []).map(Number);
  const year = wall.getUTCFullYear();
  if (!numbers.includes(wall.getUTCDate())) return undefined;
  if (!numbers.includes(year) && !numbers.includes(year % 100)) return undefined;
  return withoutZone === text ? wall.getTime() : Date.parse(text);
}
