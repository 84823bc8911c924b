import { invalidField } from '../errors/errors.ts';

/**
 * Invisible characters. A joiner inside an emoji and the selector of its style are part of the
 * emoji, so they are allowed.
 */
const invisible =
  /(?!(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|\ufe0f\u20e3)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Validates a code that a caller wants to store: a coupon code, a secret code or a snippet name (design 7). People must
 * be able to type it as they see it.
 *
 * @returns the code in NFC.
 * @throws INVALID_ARGUMENT, naming the field and the character, for white space at either end and for an
 * invisible character anywhere.
 */
export function readCode(field: string, text: string): string {
  const [atEnd] = /^\s|\s$/u.exec(text) ?? [];
  const [unseen] = invisible.exec(text) ?? [];
  const found = unseen ?? atEnd;
  if (found === undefined) return text.normalize('NFC');
  const name = `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  throw invalidField(
    field,
    unseen === undefined ? `has white space at an end (${name})` : `holds an invisible character (${name})`,
  );
}
