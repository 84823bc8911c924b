import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

const minute = 60_000;

/** Formats a date for a date field, in this browser's time zone, such as 2026-11-23. */
export function dateInput(date: Date): string {
  return timeInput(date).slice(0, 10);
}

/** Formats a time for a date-and-time field, in this browser's time zone, such as 2026-11-23T14:30. */
export function timeInput(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * minute).toISOString().slice(0, 16);
}

/**
 * Converts the time in a field to UTC in ISO 8601, for the services. Text that is not a time stays as it is: an empty
 * field, and a year of five digits, which browsers let staff enter and the services refuse at the field.
 *
 * @param was the time that the field showed at first. It keeps its seconds if staff have not changed the field.
 */
export function fromTimeInput(text: string, was?: Timestamp): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return text;
  if (was !== undefined && text === timeInput(timestampDate(was))) return timestampDate(was).toISOString();
  return date.toISOString();
}
