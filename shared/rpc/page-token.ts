import { createHash } from 'node:crypto';
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

/**
 * Returns the place in a page token. Throws INVALID_ARGUMENT if the token is corrupted, or belongs to
 * another listing or filter.
 */
export function readPageToken(listed: readonly string[], token: string): string[] {
  const place = Buffer.from(token, 'base64url').toString().split('.').slice(0, -1);
  const isOfDigits = place.every((number) => /^-?\d{1,19}$/.test(number));
  if (isOfDigits && writePageToken(listed, place) === token) return place;
  throw invalidField('page_token', 'is not the next_page_token of this search');
}
