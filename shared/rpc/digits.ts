/** Replaces the decimal digits of any script by ASCII's (design 7). */
export const toAsciiDigits = (text: string) => text.replace(/[^\P{Nd}0-9]/gu, asciiDigit);

/** In Unicode, a script's ten digits are consecutive, starting with 0. */
function asciiDigit(digit: string): string {
  const value = digit.codePointAt(0) ?? 0;
  let zero = value;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((value - zero) % 10);
}
