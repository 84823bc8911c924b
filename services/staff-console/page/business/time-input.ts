import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { type CalendarDateTime, fromAbsolute, parseDateTime, toZoned } from '@internationalized/date';
import { words } from '../words.ts';
import { business } from './business.ts';

// The text of a time field is a time of the wall clock in the business's time zone, such as 2026-11-23T14:30. An hour
// that the zone has twice also needs its offset, as in 2026-10-25T02:30+01:00.

const minutesLength = 'YYYY-MM-DDThh:mm'.length;
const secondsLength = 'YYYY-MM-DDThh:mm:ss'.length;
const daysLength = 'YYYY-MM-DD'.length;
const dayMs = 86_400_000;

/** Formats a time for a date field, such as 2026-11-23. */
export const dateInput = (date: Date): string => timeInput(date).slice(0, daysLength);

/** Formats a time for a CSV file, such as "2026-11-23 14:30": it can be sorted. Empty if there is none. */
export const fileTime = (at: Timestamp | undefined): string =>
  at === undefined ? '' : timeInput(timestampDate(at)).replace('T', ' ');

/** Formats a time for a date-and-time field. */
export function timeInput(date: Date): string {
  const text = fromAbsolute(date.getTime(), business.timeZone).toString().slice(0, minutesLength);
  if (!clocksChangeNear(date)) return text;
  return repeatedTimes(text).find((each) => Math.floor((date.getTime() - Date.parse(each)) / 60_000) === 0) ?? text;
}

const daysOfChange = new Map<string, boolean>();

/** Whether clocks may change within a day of a time. To ask the zone for each time of a long list would take a second. */
function clocksChangeNear(date: Date): boolean {
  const day = Math.floor(date.getTime() / dayMs);
  const key = `${business.timeZone} ${day}`;
  const offsetOn = (other: number) => fromAbsolute(other * dayMs, business.timeZone).offset;
  const changes = daysOfChange.get(key) ?? offsetOn(day - 1) !== offsetOn(day + 2);
  daysOfChange.set(key, changes);
  return changes;
}

/**
 * Converts the text of a field to UTC in ISO 8601. Text that is not a time stays as it is, for the services to refuse. A
 * time that the zone skips moves on by the gap. One that is still as it `was` keeps its seconds.
 */
export function fromTimeInput(text: string, was?: Timestamp): string {
  if (was !== undefined && text === timeInput(timestampDate(was))) return timestampDate(was).toISOString();
  return readTimeInput(text)?.toISOString() ?? text;
}

/** Reads the text of a date-and-time field; undefined if it is not a time. */
export function readTimeInput(text: string): Date | undefined {
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d(Z|[+-]\d\d:\d\d)$/.test(text)) return new Date(text);
  const time = readWallClock(text);
  return time && toZoned(time, business.timeZone).toDate();
}

/** Returns the texts of both times that a text of the wall clock stands for where clocks go back; else none. */
export function repeatedTimes(text: string): readonly string[] {
  const local = text.slice(0, minutesLength);
  const time = readWallClock(local);
  if (time === undefined) return [];
  const both = (['earlier', 'later'] as const).map((which) => toZoned(time, business.timeZone, which).toString());
  // Of a time that the zone skips, neither has this wall clock.
  if (both[0] === both[1] || !both.every((each) => each.startsWith(local))) return [];
  return both.map((each) => local + each.slice(secondsLength, secondsLength + '+hh:mm'.length));
}

/** Says what becomes of a time that the zone skips, such as "The end" at 02:30; nothing if the zone has the time. */
export function describeSkipped(name: string, text: string): string[] {
  const at = readTimeInput(text);
  const becomes = at === undefined ? text : timeInput(at);
  if (becomes.startsWith(text.slice(0, minutesLength))) return [];
  return [words.forms.skipped(name, text.slice(11), becomes.slice(11))];
}

/** Moves a text by as much of the wall clock as lies between two others. Returns it unmoved if one is not a time. */
export function moveTime(text: string, from: string, to: string): string {
  const [moved = 0, start = 0, end = 0] = [text, from, to].map((each) =>
    Date.parse(`${each.slice(0, minutesLength)}Z`),
  );
  const at = new Date(moved + end - start);
  if (Number.isNaN(at.getTime())) return text;
  const local = at.toISOString().slice(0, minutesLength);
  // The second of two stays the second.
  return (text === repeatedTimes(text)[1] && repeatedTimes(local)[1]) || local;
}

/** Moves a time by days of the wall clock, then by minutes that pass. One that the zone skips moves on by the gap. */
export function moveMoment(at: Timestamp, { days, minutes }: { readonly days: number; readonly minutes: number }) {
  const time = fromAbsolute(timestampMs(at), business.timeZone);
  // By no days, the second of two times stays the second.
  return time.add(days === 0 ? { minutes } : { days, minutes }).toAbsoluteString();
}

/** Moves a day, such as 2026-11-23, by a number of days. Returns it unmoved beyond the years that a field has. */
export function shiftDay(day: string, by: number): string {
  const moved = new Date(Date.parse(`${day}T00:00Z`) + by * dayMs);
  return moved.getUTCFullYear() > 0 && moved.getUTCFullYear() < 10_000 ? moved.toISOString().slice(0, daysLength) : day;
}

/** Reads a day such as 2026-11-23; undefined for any other text, such as while a year has too many digits. */
export function readDay(text: string | null): string | undefined {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

function readWallClock(text: string): CalendarDateTime | undefined {
  try {
    return parseDateTime(text);
  } catch {
    return undefined;
  }
}
