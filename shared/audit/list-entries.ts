import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { AuditService, ListEntriesRequest } from '../gen/audit/v1/audit_service_pb.ts';
import { mapped } from '../rpc/answers/answer.ts';
import { optionalDate } from '../rpc/dates.ts';
import type { Handler } from '../rpc/implementation.ts';
import { readPageToken, writePageToken } from '../rpc/paging.ts';
import { type EntryRow, entryColumns, isOfImports, type Shown, shownBy, toEntry } from './shown-entry.ts';

const defaultLimit = 50;
/** A page ends early when its changes would exceed this size. Its first entry may be larger. */
const maxPageBytes = 4 * 1024 * 1024;

/**
 * Design 10, listEntries: the changes of a service's records, newest first. Each filter has an index. When several
 * filters are given, PostgreSQL uses one index and filters the rows that it finds.
 *
 * Throws INVALID_ARGUMENT for a date that does not parse, and for a page token that belongs to other filters.
 */
export function listEntries(
  database: Database,
  service: keyof typeof shownBy,
): Handler<typeof AuditService.method.listEntries> {
  return async (request, call) => {
    const filters = readFilters(request, shownBy[service]);
    const listed = ['audit entries', service, JSON.stringify(filters)];
    const { limit = defaultLimit } = request;
    const after = request.pageToken === '' ? undefined : readPageToken(listed, request.pageToken);
    const params = { ...filters, afterMicros: after?.[0], afterId: after?.[1] };
    const select = selectEntries(params);
    const rows = await database.for(call).query(select({ ...params, rows: limit + 1 }));
    const shown = rows.filter(({ isBeyond }) => !isBeyond);
    const last = shown.at(-1);
    const isEnd = last === undefined || shown.length === rows.length;
    const nextPageToken = isEnd ? '' : writePageToken(listed, [last.atMicros, last.id]);
    return { entries: mapped(shown, toEntry), nextPageToken };
  };
}

/** Converts the filters of a request. An absent filter becomes undefined. */
function readFilters(request: ListEntriesRequest, { types, hasImports }: Shown) {
  const isAsked = (type: string) => request.resourceType === '' || request.resourceType === type;
  return {
    types: types.filter(isAsked),
    /** Undefined: no entries of users. */
    ofImports: isAsked('user') ? hasImports : undefined,
    resourceId: request.resourceId,
    staffId: request.staffId,
    subject: request.subject || undefined,
    procedure: request.procedure || undefined,
    since: optionalDate('since', request.since) ?? undefined,
    until: optionalDate('until', request.until) ?? undefined,
  };
}

interface PageParams extends ReturnType<typeof readFilters> {
  /** The last entry of the previous page: its time in microseconds since 1970, and its id. */
  afterMicros: string | undefined;
  afterId: string | undefined;
}

const conditions = {
  resourceId: 'resource_id = $resourceId',
  staffId: 'staff_id = $staffId',
  subject: `left(subject, 64) collate "C" = left($subject, 64) and subject = $subject`,
  procedure: `procedure collate "C" = $procedure`,
  since: 'at >= $since::timestamptz',
  until: 'at < $until::timestamptz',
  afterMicros: `(at, id) < (timestamptz 'epoch' + $afterMicros::bigint * interval '1 microsecond', $afterId::bigint)`,
} as const satisfies Partial<Record<keyof PageParams, string>>;

/** The filters that have an index of their own. */
const narrow = ['resourceId', 'staffId', 'subject', 'procedure'];

interface PageRow extends EntryRow {
  /** The row is past the end of the page, so its `before` and `after` were not read. */
  isBeyond: boolean;
}

/**
 * Declares one statement per set of filters, so that PostgreSQL can plan each with the right index. All indexes begin
 * with the type. The page is therefore merged from the latest entries of each type. Both services write users.
 */
function selectEntries(params: PageParams) {
  const given = Object.entries(conditions).filter(([name]) => Reflect.get(params, name) !== undefined);
  // With a filter that few entries match, "is true" keeps PostgreSQL from reading all users' entries by their index.
  const isNarrow = given.some(([name]) => narrow.includes(name));
  const entriesOf = (types: string, ...own: readonly string[]) => `
         select entries.* from ${types}, lateral (
           select * from audit_entries
           where ${[...own, ...given.map(([, condition]) => condition)].join(' and ')}
           order by at desc, id desc limit $rows::integer
         ) as entries`;
  // The names of all filters together would exceed PostgreSQL's limit for a statement name.
  const numbers = given.map(([name]) => Object.keys(conditions).indexOf(name));
  return statement<PageRow, PageParams & { rows: number }>(
    ['listEntries', ...numbers].join('-'),
    `select is_beyond as "isBeyond",${entryColumns('not is_beyond')}
     from (
       select *, row_number() over page = $rows
         or (row_number() over page > 1 and sum(shown_bytes) over page > ${maxPageBytes}) as is_beyond
       from (
         ${entriesOf('unnest($types::text[]) as types (type)', 'resource_type = type')}
         union all ${entriesOf('(values (1)) as one', `resource_type = 'user'`, isNarrow ? `(${isOfImports}) is true` : isOfImports)}
         order by at desc, id desc limit $rows
       ) as found
       window page as (order by at desc, id desc)
     ) as entries
     order by at desc, id desc`,
  );
}
