import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type ReactNode, useEffect, useState } from 'react';

const minute = 60_000;

/** Returns the current time in Unix ms, updated at each interval. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
}

const dateAndTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const timeOfDay = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });

/** The name of this browser's time zone, in which all times are shown and entered. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Shows a date and time or, with `short`, only the time. */
export function Time({
  at,
  short = false,
}: {
  readonly at: Timestamp | undefined;
  readonly short?: boolean;
}): ReactNode {
  if (at === undefined) return null;
  const date = timestampDate(at);
  return <time dateTime={date.toISOString()}>{(short ? timeOfDay : dateAndTime).format(date)}</time>;
}

/** Formats a day, such as "Monday 23 November". */
export function formatDay(day: Date): string {
  return weekday.format(day);
}

/** Formats the date and time of a `Timestamp`. */
export function formatTime(at: Timestamp | undefined): string {
  return at === undefined ? '' : formatDate(timestampDate(at));
}

/** Formats the date and time of a `Date`. */
export function formatDate(date: Date): string {
  return dateAndTime.format(date);
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
