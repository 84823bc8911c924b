import { describe, expect, it } from 'vitest';
import { firstCharacters, lastSixDigits, newCode } from '../../services/coupon-service/coupons/codes.ts';

describe('The parts of generated codes', () => {
  it('The last six digits of a time keep their zeros', () => {
    expect(lastSixDigits(1_795_249_000_123)).toBe('000123');
    expect(lastSixDigits(7)).toBe('000007');
  });

  it('Random characters differ each time and use the whole alphabet', () => {
    const texts = Array.from({ length: 2000 }, () => newCode('', '', 6));
    expect(new Set(texts).size).toBe(2000);
    expect(new Set(texts.join('')).size).toBe(36);
    expect(texts.join('')).toMatch(/^[A-Z0-9]+$/);
  });

  it('The first characters of a text are whole ones', () => {
    expect(firstCharacters('ab', 3)).toBe('ab');
    expect(firstCharacters('👩‍👩‍👧‍👦👍🏽ñandu', 3)).toBe('👩‍👩‍👧‍👦👍🏽ñ');
    expect(firstCharacters('98765', 3)).toBe('987');
  });
});
