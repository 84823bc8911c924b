import { randomInt } from 'node:crypto';

/** The codes that the service makes up (spec 4.2). `now` is in epoch milliseconds. */

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Upper-case letters and digits of a cryptographic source. */
function randomAlphanumerics(length: number): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}

const lastSixDigits = (now: number) => String(now).slice(-6).padStart(6, '0');

/** Create, rule 6: the prefix, 6 digits of the time, 6 random characters. */
export function newCouponCode(prefix: string, now: number): string {
  return `${prefix}${lastSixDigits(now)}${randomAlphanumerics(6)}`;
}

/** CreateReservedCoupon, rule 3: `SECRET`, 6 digits of the time, 6 random characters. */
export function newSecretCode(now: number): string {
  return `SECRET${lastSixDigits(now)}${randomAlphanumerics(6)}`;
}

/** CreateReservedCoupon, rule 4: `RESERVED` and 6 digits of the time. */
export function newReservedCouponCode(now: number): string {
  return `RESERVED${lastSixDigits(now)}`;
}

/** CreateCoupon, rule 4: the prefix, 4 digits of the mobile, 6 of the time, 4 random characters. */
export function newPhoneCouponCode(prefix: string, mobile: string, now: number): string {
  return `${prefix}${mobile.slice(-4)}${lastSixDigits(now)}${randomAlphanumerics(4)}`;
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * GenerateCancellationCoupon, rule 4: the first three characters of the user's name, else of the
 * mobile, else `USR`, in upper case, and the order's id. Characters are graphemes (design 7).
 */
export function refundCode(user: { name: string | null; mobile: string | null }, orderId: number): string {
  const source = user.name || user.mobile || 'USR';
  let end = 0;
  let count = 0;
  for (const { index, segment } of graphemes.segment(source)) {
    end = index + segment.length;
    count += 1;
    if (count === 3) break;
  }
  return `${source.slice(0, end).toUpperCase()}${orderId}`;
}
