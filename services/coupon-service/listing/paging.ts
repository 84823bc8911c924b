import { maxInt32 } from '../../../shared/db/int32.ts';
import { readPageToken, writePageToken } from '../../../shared/rpc/page-token.ts';
import { readSearch, type Search } from '../../../shared/searching/searching.ts';

/** A request of a listing of coupons or reserved coupons (spec 4.2, design 2). */
export interface PageRequest {
  readonly cursor?: number | undefined;
  readonly limit?: number | undefined;
  readonly search?: string | undefined;
  readonly pageToken: string;
}

/** Where a page starts, by keyset: the parameters of `placedAfter`. The rows have ids below the cursor. */
interface Place {
  /** Microseconds since the epoch: the database's full precision. */
  readonly createdAt: string;
  readonly id: number;
  /** 0 is none. */
  readonly cursor: number;
}

/** The parameters of a page: where it starts, and how many rows are read: one more than it may show. */
export interface PageParams extends Place {
  readonly rows: number;
}

/** A row with its place in the listing. */
export interface PlacedRow {
  id: number;
  /** When the row was created, in microseconds since 1970. */
  createdAtMicros: string;
}

interface Page {
  /** The listing's name: tokens of another listing are refused. */
  readonly listing: string;
  readonly search: Search | undefined;
  readonly place: PageParams;
}

const defaultLimit = 50;
/** A larger limit is cut to it (design 7). */
const maxLimit = 1_000;
// It stands for infinity: rows from before migration 0015 may have been created then.
const latest = '9223372036854775807';

/**
 * SQL of the order of a listing, and of the condition for its rows after a place. Its parameters stand in selects, so that
 * the planner does not see them (see searching.ts).
 */
export const latestFirst = 'created_at desc, id desc';
export const placedAfter = `
  (created_at, id) < (select case $createdAt::bigint when ${latest} then 'infinity' when -${latest} then '-infinity'
    else timestamptz 'epoch' + $createdAt::bigint * interval '1 microsecond' end, $id::integer)
  and id < (select coalesce(nullif($cursor::bigint, 0), ${maxInt32 + 1}))`;

/** SQL of a time as the `createdAt` of a place. */
export const micros = (time: string) =>
  `greatest(least(extract(epoch from ${time}) * 1000000, ${latest}), -${latest})::bigint`;

/** The request that staff begin with. */
export const firstPage: PageRequest = { pageToken: '' };

/** Whether a request asks for the same as `firstPage`. */
export function isFirstPage({ cursor = 0, limit = defaultLimit, search, pageToken }: PageRequest): boolean {
  return cursor === 0 && limit === defaultLimit && readSearch(search) === undefined && pageToken === '';
}

/**
 * Reads where a page starts and how many rows it shows.
 *
 * @throws INVALID_ARGUMENT for a page token that is garbled or comes from another listing or search.
 */
export function readPage(listing: string, request: PageRequest): Page {
  const search = readSearch(request.search?.normalize('NFC'));
  const limit = Math.min(request.limit ?? defaultLimit, maxLimit);
  const start: Place =
    request.pageToken === ''
      ? { createdAt: latest, id: maxInt32, cursor: request.cursor ?? 0 }
      : readToken(listing, search, request.pageToken);
  return { listing, search, place: { ...start, rows: limit + 1 } };
}

/**
 * Takes the rows of a page from those that were read, and says where the next one starts. On the last
 * page there is no cursor, and the token is empty. After an empty page, of limit 0, the next one starts
 * where it did.
 */
export function toPage<Row extends PlacedRow>({ listing, search, place }: Page, found: readonly Row[]) {
  const rows = found.slice(0, place.rows - 1);
  const following = found[rows.length];
  if (following === undefined) return { rows, nextCursor: undefined, nextPageToken: '' };
  const last = rows.at(-1);
  const createdAt = last?.createdAtMicros ?? place.createdAt;
  const next = { createdAt, id: last?.id ?? place.id, cursor: place.cursor };
  return { rows, nextCursor: following.id, nextPageToken: writeToken(listing, search, next) };
}

function writeToken(listing: string, search: Search | undefined, { createdAt, id, cursor }: Place): string {
  return writePageToken([listing, search?.term ?? ''], [createdAt, id, cursor]);
}

function readToken(listing: string, search: Search | undefined, token: string): Place {
  const [createdAt = '', id, cursor] = readPageToken([listing, search?.term ?? ''], token);
  return { createdAt, id: Number(id), cursor: Number(cursor) };
}
