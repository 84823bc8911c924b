import { invalidField } from '../errors/errors.ts';

/** What nobody sees. A joiner between pictures, and the choice of how one is drawn, are part of an emoji. */
const invisible =
  /(?!(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|\ufe0f\u20e3)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Reads a code that a caller gives to store: a coupon's, a secret one, or the name of a snippet (design 7). A person has to be
 * able to type it from what they see.
 *
 * @returns the code in NFC.
 * @throws INVALID_ARGUMENT that names the field and the character: for white space at an end, and an invisible one anywhere.
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
