import { describe, expect, it } from 'vitest';
import { refundCode } from '../../services/coupon-service/procedures/generate-cancellation-coupon.ts';
import { readCode } from '../../shared/rpc/code-text.ts';

const invisible: [name: string, code: string, character: string][] = [
  ['a tabulator', '\t', 'U+0009'],
  ['a zero-width space', 'SPRING\u200b26', 'U+200B'],
  ['a soft hyphen', 'SPRING\u00ad26', 'U+00AD'],
  ['an override of its direction', 'A\u202eB', 'U+202E'],
  ['a line separator', 'A\u2028B', 'U+2028'],
  ['a paragraph separator', 'A\u2029B', 'U+2029'],
  ['a blank of Braille', '\u2800', 'U+2800'],
  ['a Hangul filler', '\u3164', 'U+3164'],
  ['a joiner between letters', 'A\u200dB', 'U+200D'],
  ['the choice of a form without a picture', '1\ufe0f2', 'U+FE0F'],
];

describe('A code to store', () => {
  it.each(['WELCOME10', 'a b', 'Élan', '日本', '👩‍👩‍👧‍👦', '🧑🏽‍🚀', '❤️‍🔥SALE', '1️⃣'])('A code may be %s', (code) => {
    expect(readCode('coupon_code', code)).toBe(code.normalize('NFC'));
  });

  it.each(invisible)('A code with %s is refused by the name of the character', (_name, code, character) => {
    expect(() => readCode('coupon_code', code)).toThrow(`coupon_code: holds an invisible character (${character})`);
  });

  it.each([
    ['T1 ', 'U+0020'],
    [' T1', 'U+0020'],
    ['T1\u00a0', 'U+00A0'],
    ['\u3000T1', 'U+3000'],
  ])('The code %j is refused for the white space at its end', (code, character) => {
    expect(() => readCode('coupon_code', code)).toThrow(`coupon_code: has white space at an end (${character})`);
  });

  it('A code is stored in NFC', () => {
    expect(readCode('coupon_code', 'E\u0301LAN')).toBe('\u00c9LAN');
  });

  it('The code of a refund is made from the name to the letter, in NFC', () => {
    expect(refundCode(' Ann', 7)).toBe(' AN7');
    expect(refundCode('e\u0301lan', 7)).toBe('\u00c9LA7');
  });
});
