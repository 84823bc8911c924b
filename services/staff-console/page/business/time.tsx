import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useEffect, useState } from 'react';
import { clock } from '../session/clock.ts';
import { business } from './business.ts';
import { timeInput } from './time-input.ts';

const minute = 60_000;

/** Returns the services' time in Unix ms, updated at each interval and whenever the clock is corrected. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(clock.now);
  useEffect(() => {
    const look = () => setNow(clock.now());
    const timer = setInterval(look, intervalMs);
    const end = clock.subscribe(look);
    return () => {
      clearInterval(timer);
      end();
    };
  }, [intervalMs]);
  return now;
}

// The page is in English, with the calendar and the 24 hours of its date fields, whatever the browser's language.
function formatter(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  let format: Intl.DateTimeFormat | undefined;
  return (date) => {
    format ??= new Intl.DateTimeFormat('en-GB', { ...options, timeZone: business.timeZone });
    return format.format(date);
  };
}

const timeOfDay = formatter({ timeStyle: 'short' });
const dayAndYear = formatter({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const year = formatter({ year: 'numeric' });

/** Shows a date and time or, with `short`, only the time. */
export function Time({ at, short = false }: { readonly at: Timestamp | undefined; readonly short?: boolean }) {
  if (at === undefined) return null;
  const date = timestampDate(at);
  return <time dateTime={date.toISOString()}>{(short ? formatTimeOfDay : formatDate)(date)}</time>;
}

/** Formats a day, such as "Mon 23 Nov" or, of another year, "Tue 23 Nov 2027". */
export function formatDay(day: Date): string {
  return dayAndYear(day)
    .replace(',', '')
    .replace(` ${year(new Date(clock.now()))}`, '');
}

/** Formats the date and time of a `Timestamp`. */
export function formatTime(at: Timestamp | undefined): string {
  return at === undefined ? '' : formatDate(timestampDate(at));
}

/** Formats a date and time, such as "Mon 23 Nov, 14:30", with its offset in an hour that the zone has twice. */
export function formatDate(date: Date): string {
  return `${formatDay(date)}, ${formatTimeOfDay(date)}`;
}

/** Formats the time of day, such as "14:30". */
export function formatTimeOfDay(date: Date): string {
  return timeOfDay(date) + offsetIfRepeated(date);
}

function offsetIfRepeated(date: Date): string {
  const offset = timeInput(date).slice('YYYY-MM-DDThh:mm'.length);
  return offset === '' ? '' : ` (UTC${offset})`;
}

/** Returns how long it is until a time in Unix ms, in the two largest units; undefined if it has passed. */
export function timeLeft(until: number, now: number): string | undefined {
  const left = until - now;
  if (left <= 0) return undefined;
  const minutes = Math.ceil(left / minute);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor((minutes % 1_440) / 60)];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** Returns how long ago a time in Unix ms was. */
export function timeSince(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1_000));
  if (seconds < 60) return `${seconds} s ago`;
  return `${timeLeft(now - at, 0)} ago`;
}
