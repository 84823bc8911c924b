import { toAsciiDigits } from '../../../shared/rpc/digits.ts';

/** What people write between the digits of a number. White space is gone before. */
const separators = /[-.()/]/g;
/**
 * Returns a mobile number as users have it (design 14): without white space; the ten digits alone if that is all that it
 * has but for the calling code of the business, such as `+91…`, `0091…`, `0…`.
 *
 * @param callingCode digits; undefined if the business has none.
 */
export function toMobile(given: string, callingCode: string | undefined): string {
  const mobile = given.replace(/\s/g, '');
  if (callingCode === undefined) return mobile;
  const digits = toAsciiDigits(mobile.replace(separators, ''));
  const [, international, number = ''] = /^(\+|00)?(\d+)$/.exec(digits) ?? [];
  const national = [
    ...(international === undefined ? [number] : []),
    ...(number.startsWith(callingCode) ? [number.slice(callingCode.length)] : []),
  ];
  return national.map((each) => each.replace(/^0/, '')).find(({ length }) => length === 10) ?? mobile;
}
