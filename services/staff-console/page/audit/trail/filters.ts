import { fromTimeInput, shiftDay } from '../../business/time-input.ts';
import { words } from '../../words.ts';

/**
 * The filters of the audit trail in the URL: the record's kind and number; the subject, or the staff number, of the person;
 * days up to now, or the times in ISO 8601 instead.
 */
export const filterNames = ['type', 'id', 'by', 'staff', 'procedure', 'when', 'since', 'until'] as const;

/** The values of the filters; empty for none. */
export type FilterValues = Readonly<Record<(typeof filterNames)[number], string>>;

/** Returns the URL of the trail with these filters. */
export function trailAddress(filters: Partial<FilterValues>): string {
  return `/audit?${new URLSearchParams(filters)}`;
}

/** The days of `when`, as the first and the one after the last, counted from today. */
const days: Readonly<Record<string, readonly number[]>> = { today: [0, 1], yesterday: [-1, 0], week: [-6, 1] };

/** Returns the request to the services on a day, such as 2026-11-23, and the problems with invalid numbers by its fields. */
export function toRequest({ type, id, by, staff, procedure, when, ...times }: FilterValues, today: string) {
  const [since = times.since, until = times.until] =
    days[when]?.map((day) => fromTimeInput(`${shiftDay(today, day)}T00:00`)) ?? [];
  return {
    request: {
      ...{ resourceType: type, subject: by, procedure, since, until },
      ...(id !== '' && { resourceId: Number(id) }),
      ...(staff !== '' && { staffId: Number(staff) }),
    },
    problems: {
      ...(!isNumber(id) && { resourceId: words.activity.wholeNumber }),
      ...(!isNumber(staff) && { staffId: words.activity.wholeNumber }),
    },
  };
}

/** Whether a filter is empty or a number of 32 bits, as the services accept it. */
const isNumber = (text: string) => /^(-?\d{1,10})?$/.test(text) && Math.abs(Number(text)) < 2 ** 31;
