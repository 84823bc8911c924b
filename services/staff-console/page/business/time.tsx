import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { DateFormatter } from '@internationalized/date';
import { useEffect, useState } from 'react';
import { clock } from '../session/clock.ts';
import { business } from './business.ts';
import { timeInput } from './time-input.ts';

/** Returns the services' time in Unix ms, updated at each interval. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(clock.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(clock.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

/** Shows a date and time. */
export function Time({ at }: { readonly at: Timestamp | undefined }) {
  return at && <time dateTime={timestampDate(at).toISOString()}>{formatTime(at)}</time>;
}

/** Formats a day, such as "Mon 23 Nov" or, of another year, "Tue 23 Nov 2027". */
export function formatDay(day: Date): string {
  const thisYear = format(new Date(clock.now()), { year: 'numeric' });
  const text = format(day, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
  return text.replace(',', '').replace(` ${thisYear}`, '');
}

/** Formats the date and time of a `Timestamp`. */
export const formatTime = (at: Timestamp | undefined): string =>
  at === undefined ? '' : formatDate(timestampDate(at));

/** Formats a date and time, such as "Mon 23 Nov, 14:30", with its offset in an hour that the zone has twice. */
export const formatDate = (date: Date): string => `${formatDay(date)}, ${formatTimeOfDay(date)}`;

/** Formats the time of day, such as "14:30". */
export function formatTimeOfDay(date: Date): string {
  const offset = timeInput(date).slice('YYYY-MM-DDThh:mm'.length);
  return format(date, { timeStyle: 'short' }) + (offset === '' ? '' : ` (UTC${offset})`);
}

/** The page is in English, with the calendar and the 24 hours of its date fields, whatever the browser's language. */
function format(date: Date, options: Intl.DateTimeFormatOptions): string {
  // The library keeps its formatters.
  return new DateFormatter('en-GB', { ...options, timeZone: business.timeZone }).format(date);
}

/** Returns how long it is until a time in Unix ms, in the two largest units; undefined if it has passed. */
export function timeLeft(until: number, now: number): string | undefined {
  if (until <= now) return undefined;
  const minutes = Math.ceil((until - now) / 60_000);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor((minutes % 1_440) / 60)];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** Returns how long ago a time in Unix ms was. */
export function timeSince(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1_000));
  return `${seconds < 60 ? `${seconds} s` : timeLeft(now, at)} ago`;
}
