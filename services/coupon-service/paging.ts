import { createHash } from 'node:crypto';
import { invalidField } from '../../shared/errors/errors.ts';

/** What the listings of coupons and of reserved coupons are asked for (spec 4.2, design 2). */
export interface PageRequest {
  readonly cursor?: number | undefined;
  readonly limit?: number | undefined;
  readonly search?: string | undefined;
  readonly pageToken: string;
}

/** A place in a listing by created_at and id, latest first, among the rows with ids below a cursor. */
export interface Place {
  /** Microseconds since the epoch: the database's full precision. */
  readonly createdAt: string;
  readonly id: number;
  /** 0 is none. */
  readonly cursor: number;
}

/** A row with the rest of its place. */
export interface PlacedRow {
  id: number;
  createdAtMicros: string;
}

export interface Page<Row> {
  readonly rows: Row[];
  /** The id of the first row after the page; undefined on the last page. */
  readonly nextCursor: number | undefined;
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

const defaultLimit = 50;
// The largest integer that a double holds, in the year 2255.
const latest = String(Number.MAX_SAFE_INTEGER);
const largestInt32 = 2 ** 31 - 1;

/** A text that is searched for; undefined when it is blank. It is not trimmed (design 7). */
export function searchTerm(search: string | undefined): string | undefined {
  return search?.trim() ? search : undefined;
}

/**
 * SQL of the rows after a place, with their cursor: of `[createdAt, id, cursor, limit + 1]` as the
 * first four parameters. `latestFirst` is the order that goes with it.
 */
export const afterPlace = `
  (created_at, id) < (timestamptz 'epoch' + $1::bigint * interval '1 microsecond', $2::integer)
  and ($3::integer = 0 or id < $3)`;
export const latestFirst = 'created_at desc, id desc';

/**
 * Reads where a page starts and how many rows it has.
 *
 * @param listing the name of the procedure: tokens of another one don't count.
 * @throws INVALID_ARGUMENT for a page token that is garbled or from another listing or search.
 */
export function readPage(listing: string, request: PageRequest) {
  const search = searchTerm(request.search);
  const from: Place =
    request.pageToken === ''
      ? { createdAt: latest, id: largestInt32, cursor: request.cursor ?? 0 }
      : readToken(listing, search, request.pageToken);
  return { search, from, limit: request.limit ?? defaultLimit };
}

/**
 * Cuts the rows that were read, one more than the limit when there are, to a page.
 *
 * An empty page, of limit 0, goes on from where it started.
 */
export function toPage<Row extends PlacedRow>(
  listing: string,
  { search, from, limit }: ReturnType<typeof readPage>,
  found: readonly Row[],
): Page<Row> {
  const rows = found.slice(0, limit);
  const extra = found[limit];
  if (extra === undefined) return { rows, nextCursor: undefined, nextPageToken: '' };
  const last = rows.at(-1);
  const place = last === undefined ? from : { createdAt: last.createdAtMicros, id: last.id, cursor: from.cursor };
  return { rows, nextCursor: extra.id, nextPageToken: writeToken(listing, search, place) };
}

function writeToken(listing: string, search: string | undefined, { createdAt, id, cursor }: Place): string {
  const place = `${createdAt}.${id}.${cursor}`;
  // Not a secret: it ties the token to its listing and search, and finds what was garbled.
  const check = createHash('sha256')
    .update(JSON.stringify([listing, search ?? '', place]))
    .digest('base64url')
    .slice(0, 12);
  return Buffer.from(`${place}.${check}`).toString('base64url');
}

function readToken(listing: string, search: string | undefined, token: string): Place {
  const [createdAt = '', id, cursor] = Buffer.from(token, 'base64url').toString().split('.');
  const place = { createdAt, id: Number(id), cursor: Number(cursor) };
  if (writeToken(listing, search, place) !== token) {
    throw invalidField('page_token', 'is not the next_page_token of this search');
  }
  return place;
}
