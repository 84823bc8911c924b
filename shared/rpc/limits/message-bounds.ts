import type { DescMessage } from '@bufbuild/protobuf';
import { invalidRequest } from '../../errors/errors.ts';
import type { Codec } from '../answers/response.ts';
import { checkBinaryBounds } from './binary-bounds.ts';
import { maxRequestDepth, maxRequestValues } from './limits.ts';

/**
 * Checks how many values a request has and how deep they are nested, before it is decoded. Decoding
 * takes far longer than counting: 4 MiB of brackets would block all other calls for seconds.
 *
 * @throws INVALID_ARGUMENT for more than 120,000 values, for JSON of more than 100 levels, and for a
 * binary message that is not well-formed.
 */
export function checkMessageBounds(codec: Codec, schema: DescMessage, bytes: Uint8Array): void {
  if (codec === 'json') checkJsonBounds(bytes);
  // Each value takes at least one byte.
  else if (bytes.byteLength > maxRequestValues) checkBinaryBounds(schema, bytes);
}

/** The values that a list, an object or a key counts as, besides its comma: decoding it takes that much longer. */
const containerOrKeyCost = 4;

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Counts the values of a JSON text by its punctuation: a comma is the end of a value. */
function checkJsonBounds(bytes: Uint8Array): void {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at);
        break;
      case openBracket:
      case openBrace:
        depth += 1;
        values += containerOrKeyCost;
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        break;
      case comma:
        values += 1;
        break;
      case colon:
        values += containerOrKeyCost;
    }
    if (values > maxRequestValues) throw invalidRequest(`The request has more than ${maxRequestValues} values`);
    if (depth > maxRequestDepth) throw invalidRequest(`The JSON is nested deeper than ${maxRequestDepth} levels`);
  }
}

/** The index of the closing quote of the string that starts at `start`. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
