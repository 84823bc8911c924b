import { randomInt } from 'node:crypto';

// Without vowels, so that no code has a word in it.
const alphabet = 'BCDFGHJKLMNPQRSTVWXYZ0123456789';
/** Without 0, O, 1, I and L, which people mistake for one another. */
const clearAlphabet = 'BCDFGHJKMNPQRSTVWXYZ23456789';

/**
 * Generates a code (spec 4.2): the prefix, the digits, and `random` upper-case consonants and digits
 * from a cryptographic source.
 */
export function newCode(prefix: string, digits: string, random = 0): string {
  return `${prefix}${digits}${randomText(alphabet, random)}`;
}

/** Draws `count` different texts of `length` consonants and digits that people can tell apart (design 13). */
export function drawTexts(count: number, length: number): string[] {
  const drawn = new Set<string>();
  while (drawn.size < count) drawn.add(randomText(clearAlphabet, length));
  return [...drawn];
}

function randomText(letters: string, length: number): string {
  return Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('');
}

/** Returns the last 6 digits of a time in epoch milliseconds. */
export function lastSixDigits(epochMs: number): string {
  return String(epochMs).slice(-6).padStart(6, '0');
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Returns the first `count` characters of a text. Characters are graphemes (design 7): an emoji counts as one. */
export function firstCharacters(text: string, count: number): string {
  let end = 0;
  let left = count;
  for (const { index, segment } of graphemes.segment(text)) {
    end = index + segment.length;
    left -= 1;
    if (left === 0) break;
  }
  return text.slice(0, end);
}
