import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ListEntriesRequestSchema } from '#gen/audit/v1/audit_service_pb';
import { fromTimeInput, shiftDay } from '../../business/time-input.ts';
import { words } from '../../words.ts';

/** The filters of the audit trail in the URL's query. An empty text means no filter. */
export interface Filters {
  /** The kind of the record. */
  readonly type: string;
  /** The record's number. */
  readonly id: string;
  /** The subject of the person who made the change. */
  readonly by: string;
  /** The staff number of the person who made the change. */
  readonly staff: string;
  readonly procedure: string;
  /** Days up to now, such as "today", instead of `since` and `until`. */
  readonly when: string;
  /** In ISO 8601, like `until`. */
  readonly since: string;
  readonly until: string;
}

/** No filter. */
export const noFilters: Filters = {
  type: '',
  id: '',
  by: '',
  staff: '',
  procedure: '',
  when: '',
  since: '',
  until: '',
};

/** A request for entries, without the page to read. */
export type TrailRequest = MessageInitShape<typeof ListEntriesRequestSchema>;

/** Reads the filters from a URL's query. */
export function readFilters(params: URLSearchParams): Filters {
  const read = (name: keyof Filters) => params.get(name)?.trim() ?? '';
  return {
    ...{ type: read('type'), id: read('id'), by: read('by'), staff: read('staff') },
    ...{ procedure: read('procedure'), when: read('when'), since: read('since'), until: read('until') },
  };
}

/** Returns the URL query of the filters that are set. */
export function toParams(filters: Partial<Filters>): URLSearchParams {
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
}

/** Returns the URL of the trail with these filters. */
export function trailAddress(filters: Partial<Filters>): string {
  return `/audit?${toParams(filters)}`;
}

/** The days of `when`, as the first and the one after the last, counted from today. */
const days: Readonly<Record<string, readonly [first: number, end: number]>> = {
  today: [0, 1],
  yesterday: [-1, 0],
  week: [-6, 1],
};

/**
 * Returns the request to the services, and the problems with invalid numbers by the request's fields.
 *
 * @param today the day of the business, such as 2026-11-23.
 */
export function toRequest(
  { type, id, by, staff, procedure, when, ...times }: Filters,
  today: string,
): {
  readonly request: TrailRequest;
  readonly problems: Readonly<Record<string, string>>;
} {
  const [since = times.since, until = times.until] =
    days[when]?.map((day) => fromTimeInput(`${shiftDay(today, day)}T00:00`)) ?? [];
  const [resourceId, staffId] = [readNumber(id), readNumber(staff)];
  const problems = Object.entries({ resourceId, staffId }).filter(([, number]) => Number.isNaN(number));
  return {
    request: {
      ...{ resourceType: type, subject: by, procedure, since, until },
      ...(resourceId === undefined ? {} : { resourceId }),
      ...(staffId === undefined ? {} : { staffId }),
    },
    problems: Object.fromEntries(problems.map(([name]) => [name, words.activity.wholeNumber])),
  };
}

/** Reads an optional number of 32 bits, as the services accept it. Returns NaN for any other text. */
function readNumber(text: string): number | undefined {
  if (text === '') return undefined;
  const number = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return Math.abs(number) < 2 ** 31 ? number : Number.NaN;
}
