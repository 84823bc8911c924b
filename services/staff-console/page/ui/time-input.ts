import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

const minute = 60_000;

/** Such as 2026-11-23, in this browser's time zone: what a field for dates holds. */
export function dateInput(date: Date): string {
  return timeInput(date).slice(0, 10);
}

/** Such as 2026-11-23T14:30, in this browser's time zone: what a field for dates with times holds. */
export function timeInput(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * minute).toISOString().slice(0, 16);
}

/**
 * The time in a field, as the services read it: UTC, in ISO 8601. What is no time stays as it is: an empty field, and a year of five
 * digits, which browsers let staff enter and the services refuse at the field.
 *
 * @param was what the field showed at first: its seconds are kept if nobody has changed it.
 */
export function fromTimeInput(text: string, was?: Timestamp): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  if (was !== undefined && text === timeInput(timestampDate(was))) return timestampDate(was).toISOString();
  return date.toISOString();
}
