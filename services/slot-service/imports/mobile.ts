import { invalidField } from '../../../shared/errors/errors.ts';
import { toAsciiDigits } from '../../../shared/rpc/digits.ts';

/** What people write between the digits of a number. White space is gone before. */
const separators = /[-.()/]/g;
/** How a spreadsheet shows a number that is too long for its column. Its last digits are lost. */
const shortenedNumber = /^\+?\d+(?:[.,]\d+)?E[+-]?\d+$/i;
/** Whether an external id is such a number. A spreadsheet writes the sign, while `12E4` may be a business's own key. */
export const isShortened = (externalId: string) => /^\d+(?:[.,]\d+)?E[+-]\d+$/i.test(externalId);
export const shortenedProblem = 'a spreadsheet has shortened the number: give the column the format of a text';

/**
 * Returns a mobile number as users have it (design 14): without white space; the ten digits alone if that is all that
 * it has but for the calling code of the business, such as `+91…`, `0091…`, `0…`.
 *
 * @param callingCode digits; undefined if the business has none.
 * @param prefix begins the name of the field in the error.
 * @returns throws INVALID_ARGUMENT for a number that a spreadsheet has shortened, such as `9.19877E+11`.
 */
export function toMobile(given: string, callingCode: string | undefined, prefix = ''): string {
  const mobile = given.replace(/\s/g, '');
  if (shortenedNumber.test(mobile)) throw invalidField(`${prefix}mobile`, shortenedProblem);
  if (callingCode === undefined) return mobile;
  const digits = toAsciiDigits(mobile.replace(separators, ''));
  const [, international, number = ''] = /^(\+|00)?(\d+)$/.exec(digits) ?? [];
  const national = [
    ...(international === undefined ? [number] : []),
    ...(number.startsWith(callingCode) ? [number.slice(callingCode.length)] : []),
  ];
  return national.map((each) => each.replace(/^0/, '')).find(({ length }) => length === 10) ?? mobile;
}
