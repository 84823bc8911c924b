import { describe, expect, it } from 'vitest';
import { drawTexts, firstCharacters, lastSixDigits, newCode } from '../../services/coupon-service/coupons/codes.ts';

describe('The parts of generated codes', () => {
  it('The last six digits of a time keep their zeros', () => {
    expect(lastSixDigits(1_795_249_000_123)).toBe('000123');
    expect(lastSixDigits(7)).toBe('000007');
  });

  it.each([
    [
      'Random characters',
      () => Array.from({ length: 2000 }, () => newCode('', '', 6)),
      'BCDFGHJKLMNPQRSTVWXYZ0123456789',
    ],
    ['Characters that people can tell apart', () => drawTexts(2000, 6), 'BCDFGHJKMNPQRSTVWXYZ23456789'],
  ])(
    '%s differ each time and use all letters but vowels, so that no code has a word in it',
    (_what, draw, alphabet) => {
      const texts = draw();
      expect(new Set(texts).size).toBe(2000);
      expect([...new Set(texts.join(''))].sort()).toEqual([...alphabet].sort());
    },
  );

  it('The first characters of a text are whole ones', () => {
    expect(firstCharacters('ab', 3)).toBe('ab');
    expect(firstCharacters('👩‍👩‍👧‍👦👍🏽ñandu', 3)).toBe('👩‍👩‍👧‍👦👍🏽ñ');
    expect(firstCharacters('98765', 3)).toBe('987');
  });
});
