import { createHash } from 'node:crypto';
import { maxInt32 } from '../db/int32.ts';
import { invalidField } from '../errors/errors.ts';

/**
 * Creates a page token, which tells where the next page of a listing starts. It is not secret. A checksum ties it to
 * its listing and detects a corrupted token.
 *
 * @param listed identifies the listing and its filters.
 * @param place the position in the listing, as decimal numbers.
 */
export function writePageToken(listed: readonly string[], place: readonly (string | number)[]): string {
  const text = place.join('.');
  const check = createHash('sha256')
    .update(JSON.stringify([...listed, text]))
    .digest('base64url')
    .slice(0, 12);
  return Buffer.from(`${text}.${check}`).toString('base64url');
}

/** Returns the place in a token; undefined if the token is corrupted, or belongs to another listing or filter. */
export function readPlace(listed: readonly string[], token: string): string[] | undefined {
  const place = Buffer.from(token, 'base64url').toString().split('.').slice(0, -1);
  const isOfDigits = place.every((number) => /^-?\d{1,19}$/.test(number));
  return isOfDigits && writePageToken(listed, place) === token ? place : undefined;
}

/**
 * Returns the place in a page token. Throws INVALID_ARGUMENT if the token is corrupted, or belongs to
 * another listing or filter.
 */
export function readPageToken(listed: readonly string[], token: string): string[] {
  const place = readPlace(listed, token);
  if (place === undefined) throw invalidField('page_token', 'is not the next_page_token of this search');
  return place;
}

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
 * Returns the page that a request asks for. Throws INVALID_ARGUMENT for a page token that is corrupted, or belongs to
 * another listing or filter.
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
