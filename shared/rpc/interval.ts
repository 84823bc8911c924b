import { isTimeZone } from '../config/business.ts';
import { invalidField } from '../errors/errors.ts';
import { requiredDate } from './dates.ts';

/** A half-open interval of time, in Unix ms. It is empty where `until` is not later than `from`. */
export interface Interval {
  readonly from: number;
  readonly until: number;
}

/** Reads the interval of a request. Throws INVALID_ARGUMENT for a date that does not parse. */
export function readInterval({ from, until }: { readonly from: string; readonly until: string }): Interval {
  return { from: requiredDate('from', from).getTime(), until: requiredDate('until', until).getTime() };
}

/** Returns the error for an interval of more days than a call sums up. */
export const tooManyDays = (most: number) => invalidField('until', `must be at most ${most} days after from`);

/**
 * Returns the time zone that a request names, or else that of the business. Throws INVALID_ARGUMENT for one that is not
 * known: offsets and POSIX texts are not.
 */
export function readTimeZone({ timeZone }: { readonly timeZone: string }, ofBusiness: string): string {
  const name = timeZone || ofBusiness;
  if (!isTimeZone(name)) throw invalidField('time_zone', 'is not the name of a time zone, such as Europe/Berlin');
  return name;
}
