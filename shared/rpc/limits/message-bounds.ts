import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { ConnectError } from '@connectrpc/connect';
import { invalidRequest } from '../../errors/errors.ts';
import type { Codec } from '../answers/response.ts';
import { mapKey, mapValue } from '../answers/writers.ts';
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

/** The packed integers that cost as much to decode as one value. */
const packedPerValue = 5;

/**
 * Counts the fields of a binary message by walking them as the decoder does. The decoder reads a known
 * field by its declared type, whatever its tag says, and could see another message than the one that is
 * counted here. A field with the wrong wire type is therefore an error.
 *
 * @throws INVALID_ARGUMENT for more than 120,000 values, for more than 200 levels, and for a message that
 * is not well-formed.
 */
export function checkBinaryBounds(schema: DescMessage, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  const malformed = () => invalidRequest(`The request is no ${schema.typeName}`);
  let values = 0;
  const count = (fields: Fields, end: number, depth: number) => {
    if (depth > 2 * maxRequestDepth) throw invalidRequest('The request is nested too deep');
    while (reader.pos < end) {
      const [number, wireType] = reader.tag();
      const field = fields.get(number) ?? unknownField;
      if (!field.wireTypes.includes(wireType)) throw malformed();
      values += 1;
      if (wireType !== WireType.LengthDelimited) {
        reader.skip(wireType, number);
      } else if (field.message !== undefined) {
        const size = reader.uint32();
        count(field.message, reader.pos + size, depth + 1);
      } else {
        const content = reader.bytes();
        if (field.isPacked) values += countVarints(content) / packedPerValue;
      }
      if (values > maxRequestValues) throw invalidRequest(`The request has more than ${maxRequestValues} values`);
    }
    if (reader.pos !== end) throw malformed();
  };
  try {
    count(fieldsOf(schema), bytes.byteLength, 0);
  } catch (error) {
    throw error instanceof ConnectError ? error : malformed();
  }
}

/** The number of packed integers; throws when the last one is cut off. */
function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte < 0x80) count += 1;
  if ((bytes.at(-1) ?? 0) >= 0x80) throw new Error('the last integer is cut off');
  return count;
}

interface Field {
  readonly wireTypes: readonly WireType[];
  readonly message?: Fields;
  readonly isPacked?: boolean;
}

/** The fields of a message by number. */
type Fields = ReadonlyMap<number, Field>;

// All wire types but the groups: a group would be skipped as a whole, uncounted, and has been deprecated
// for twenty years.
const unknownField: Field = { wireTypes: [WireType.Varint, WireType.Bit64, WireType.LengthDelimited, WireType.Bit32] };
const fieldsBySchema = new Map<DescMessage, Fields>();

function fieldsOf(schema: DescMessage): Fields {
  const known = fieldsBySchema.get(schema);
  if (known !== undefined) return known;
  const fields = new Map<number, Field>();
  // Before its fields are read, because a message may contain itself.
  fieldsBySchema.set(schema, fields);
  for (const field of schema.fields) {
    const single = singleValueOf(field);
    if (field.fieldKind === 'map') {
      const entry = new Map([
        [mapKey, { wireTypes: [wireTypeOf(field.mapKey)] }],
        [mapValue, single],
      ]);
      fields.set(field.number, { wireTypes: [WireType.LengthDelimited], message: entry });
    } else if (field.fieldKind === 'list' && single.wireTypes[0] !== WireType.LengthDelimited) {
      const wireTypes = [...single.wireTypes, WireType.LengthDelimited];
      fields.set(field.number, { wireTypes, isPacked: single.wireTypes[0] === WireType.Varint });
    } else {
      fields.set(field.number, single);
    }
  }
  return fields;
}

/** How one value of a field is encoded. */
function singleValueOf({ message, scalar }: DescField): Field {
  if (message !== undefined) return { wireTypes: [WireType.LengthDelimited], message: fieldsOf(message) };
  // An enum is a varint.
  return { wireTypes: [scalar === undefined ? WireType.Varint : wireTypeOf(scalar)] };
}

function wireTypeOf(scalar: ScalarType): WireType {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WireType.Bit64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WireType.Bit32;
    default:
      return WireType.Varint;
  }
}
