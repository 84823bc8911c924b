import { createHash } from 'node:crypto';
import { invalidField } from '../errors/errors.ts';

/**
 * Writes a page token: where the next page of a listing starts. It is no secret; it is tied to what is listed, and reveals a
 * garbled one.
 *
 * @param listed names the listing and its filters.
 * @param place numbers in decimal.
 */
export function writePageToken(listed: readonly string[], place: readonly (string | number)[]): string {
  const text = place.join('.');
  const check = createHash('sha256')
    .update(JSON.stringify([...listed, text]))
    .digest('base64url')
    .slice(0, 12);
  return Buffer.from(`${text}.${check}`).toString('base64url');
}

/** Reads the place of a page token. Throws INVALID_ARGUMENT for one that is garbled, or of another listing or filter. */
export function readPageToken(listed: readonly string[], token: string): string[] {
  const place = Buffer.from(token, 'base64url').toString().split('.').slice(0, -1);
  const isOfDigits = place.every((number) => /^-?\d{1,19}$/.test(number));
  if (isOfDigits && writePageToken(listed, place) === token) return place;
  throw invalidField('page_token', 'is not the next_page_token of this search');
}
