import { maxInt32 } from '../../../shared/db/int32.ts';
import { timeOf } from '../../../shared/db/micros.ts';
import { readPageToken, writePageToken } from '../../../shared/rpc/paging.ts';
import { readSearch, type Search } from '../../../shared/searching/searching.ts';

/** A request to list coupons or reserved coupons (spec 4.2, design 2). */
export interface PageRequest {
  readonly cursor?: number | undefined;
  readonly limit?: number | undefined;
  readonly search?: string | undefined;
  /** Lists only the rows of this user. */
  readonly userId?: number | undefined;
  /** Lists only the coupons of this batch. */
  readonly batchId?: number | undefined;
  /** Lists only the coupons of no batch. */
  readonly withoutBatch?: boolean | undefined;
  readonly pageToken: string;
  /** Counts all rows that match. */
  readonly withTotal?: boolean | undefined;
}

/**
 * The keyset position where a page starts: the parameters of `placedAfter`. Only rows with ids
 * below the cursor are listed.
 */
interface Place {
  /** Microseconds since the epoch, the database's full precision. */
  readonly createdAt: string;
  readonly id: number;
  /** 0 means no cursor. */
  readonly cursor: number;
}

/** The parameters of a page: its start, and the number of rows to read, one more than the page shows. */
export interface PageParams extends Place {
  readonly rows: number;
}

/** A row with its position in the listing. */
export interface PlacedRow {
  id: number;
  /** The creation time in microseconds since the epoch. */
  createdAtMicros: string;
}

/** The given filters, by name. */
export type Filters = Pick<PageRequest, 'userId' | 'batchId' | 'withoutBatch'>;

/** A page to read. */
export interface Page {
  /** The listing's name and its filters. Tokens of others are refused. */
  readonly listed: readonly string[];
  readonly search: Search | undefined;
  readonly filters: Filters;
  readonly place: PageParams;
}

const defaultLimit = 50;
/** Larger limits are reduced to this one (design 7). */
const maxLimit = 1_000;
// Later than any row: PostgreSQL's time ends in the year 294276.
const latest = '9000000000000000000';

/** SQL of a listing's order, and of its condition for rows after a position. */
export const latestFirst = 'created_at desc, id desc';
export const placedAfter = `
  (created_at, id) < (${timeOf('$createdAt')}, $id::integer)
  and id < coalesce(nullif($cursor::bigint, 0), ${maxInt32 + 1})`;

/** The request for the first page with the default limit, with which staff begin. */
export const firstPage: PageRequest = { pageToken: '' };

/** Whether a request is equivalent to `firstPage`. */
export function isFirstPage(request: PageRequest): boolean {
  const { cursor = 0, limit = defaultLimit, search, pageToken, withTotal = false } = request;
  const isFiltered = Object.keys(readFilters(request)).length > 0 || readSearch(search) !== undefined;
  return cursor === 0 && limit === defaultLimit && !isFiltered && pageToken === '' && !withTotal;
}

/**
 * Returns the start of a page and the number of rows to read.
 *
 * @throws INVALID_ARGUMENT for a page token that is corrupted, or belongs to another listing, search or filter.
 */
export function readPage(listing: string, request: PageRequest): Page {
  const search = readSearch(request.search?.normalize('NFC'));
  const filters = readFilters(request);
  const { userId, batchId, withoutBatch } = filters;
  const ofUser = userId === undefined ? [] : [String(userId)];
  const ofBatch = batchId === undefined ? [] : [`batch ${batchId}`];
  const ofNone = withoutBatch ? ['without batch'] : [];
  const listed = [listing, search?.term ?? '', ...ofUser, ...ofBatch, ...ofNone];
  const limit = Math.min(request.limit ?? defaultLimit, maxLimit);
  const start: Place =
    request.pageToken === ''
      ? { createdAt: latest, id: maxInt32, cursor: request.cursor ?? 0 }
      : readToken(listed, request.pageToken);
  return { listed, search, filters, place: { ...start, rows: limit + 1 } };
}

/**
 * Splits the rows that were read into the page and the position of the next one. On the last page, the cursor is absent
 * and the token empty. After an empty page, of limit 0, the next page starts at the same position.
 */
export function toPage<Row extends PlacedRow>({ listed, place }: Page, found: readonly Row[]) {
  const rows = found.slice(0, place.rows - 1);
  const following = found[rows.length];
  if (following === undefined) return { rows, nextCursor: undefined, nextPageToken: '' };
  const last = rows.at(-1);
  const next = [last?.createdAtMicros ?? place.createdAt, last?.id ?? place.id, place.cursor];
  return { rows, nextCursor: following.id, nextPageToken: writePageToken(listed, next) };
}

function readFilters({ userId, batchId, withoutBatch }: Filters): Filters {
  return {
    ...(userId !== undefined && { userId }),
    ...(batchId !== undefined && { batchId }),
    ...(withoutBatch && { withoutBatch }),
  };
}

function readToken(listed: readonly string[], token: string): Place {
  const [createdAt = '', id, cursor] = readPageToken(listed, token);
  return { createdAt, id: Number(id), cursor: Number(cursor) };
}
