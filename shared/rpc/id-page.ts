import { maxInt32 } from '../db/int32.ts';
import { readPageToken, writePageToken } from './page-token.ts';

const defaultLimit = 50;

/** A page of a listing in the order of ids: the parameters of its statement. */
export interface IdPage {
  /** The listing's name and its filters. Tokens of others are refused. */
  readonly listed: readonly string[];
  /** The last id of the previous page; undefined for the first page. */
  readonly after: number | undefined;
  /** How many rows to read: one more than the page shows. */
  readonly rows: number;
}

/** SQL of the exclusive upper bound on the ids of a page in descending order. */
export const lastId = 'coalesce($after::bigint, 2147483648)';

/**
 * Returns the page that a request asks for. Throws INVALID_ARGUMENT for a page token that is corrupted, or belongs to another
 * listing or filter.
 */
export function readIdPage(
  listed: readonly string[],
  { limit = defaultLimit, pageToken }: { readonly limit?: number | undefined; readonly pageToken: string },
): IdPage {
  const [after] = pageToken === '' ? [] : readPageToken(listed, pageToken);
  return { listed, after: after === undefined ? undefined : Math.min(Number(after), maxInt32), rows: limit + 1 };
}

/** Splits the rows that were read into the page and the token of the next one, which is empty on the last page. */
export function toIdPage<Row extends { id: number }>({ listed, rows: asked }: IdPage, found: readonly Row[]) {
  const rows = found.slice(0, asked - 1);
  const last = rows.at(-1);
  const isEnd = last === undefined || rows.length === found.length;
  return { rows, nextPageToken: isEnd ? '' : writePageToken(listed, [last.id]) };
}
