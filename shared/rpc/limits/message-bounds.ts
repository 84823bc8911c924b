import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { ConnectError } from '@connectrpc/connect';
import { commonErrors, fail } from '../../errors/errors.ts';

/** What a message is written in. */
export type Form = 'json' | 'proto';

/**
 * The most values of a request. In binary form each field is one, and so are five integers that are
 * packed into one field. In JSON each entry of a list or an object is one; a list, an object and a key
 * are four more, because they take so much longer to decode.
 */
const maxValues = 120_000;
const packedPerValue = 5;
const moreOfContainerOrKey = 4;

/** As deep as protobuf reads either form. */
const maxDepth = 100;

/**
 * Counts the values of a request before it is decoded, and how deep they are nested: to decode takes a
 * hundred times as long as to count, and 4 MiB of brackets would hold up all other calls for seconds.
 *
 * @throws INVALID_ARGUMENT for more than 120,000 values, for JSON of more than 100 levels, and for a
 * binary message that is not well-formed.
 */
export function checkMessageBounds(form: Form, schema: DescMessage, bytes: Uint8Array): void {
  if (form === 'json') boundJson(bytes);
  else if (bytes.byteLength > maxValues) boundBinary(schema, bytes);
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

function boundJson(bytes: Uint8Array): void {
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
        values += moreOfContainerOrKey;
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        break;
      case comma:
        values += 1;
        break;
      case colon:
        values += moreOfContainerOrKey;
    }
    if (values > maxValues) throw tooManyValues();
    if (depth > maxDepth) throw refused(`The JSON is nested deeper than ${maxDepth} levels`);
  }
}

/** Where the string that starts here has its closing quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/**
 * Walks the fields as the decoder does. That one reads a known field by its type, whatever its tag says,
 * and would see another message than the one that is counted here: what is not written as it must be
 * is refused.
 */
function boundBinary(schema: DescMessage, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  let values = 0;
  const count = (fields: Fields, end: number, depth: number) => {
    if (depth > 2 * maxDepth) throw refused('The request is nested too deep');
    while (reader.pos < end) {
      const [number, wireType] = reader.tag();
      const field = fields.get(number) ?? unknownField;
      if (!field.wireTypes.includes(wireType)) throw refused(`The request is no ${schema.typeName}`);
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
      if (values > maxValues) throw tooManyValues();
    }
    if (reader.pos !== end) throw refused(`The request is no ${schema.typeName}`);
  };
  try {
    count(fieldsOf(schema), bytes.byteLength, 0);
  } catch (error) {
    throw error instanceof ConnectError ? error : refused(`The request is no ${schema.typeName}`);
  }
}

/** How many integers there are; throws where the last one has no end. */
function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte < 0x80) count += 1;
  if ((bytes.at(-1) ?? 0) >= 0x80) throw new Error('an integer has no end');
  return count;
}

interface Field {
  readonly wireTypes: readonly WireType[];
  readonly message?: Fields;
  readonly isPacked?: boolean;
}

/** The fields of a message by their numbers. */
type Fields = ReadonlyMap<number, Field>;

// Not groups, which are read whole without being counted, and which nobody has written for twenty years.
const unknownField: Field = {
  wireTypes: [WireType.Varint, WireType.Bit64, WireType.LengthDelimited, WireType.Bit32],
};
const [mapKey, mapValue] = [1, 2];
const known = new Map<DescMessage, Fields>();

function fieldsOf(schema: DescMessage): Fields {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const fields = new Map<number, Field>();
  known.set(schema, fields);
  for (const field of schema.fields) {
    const single = fieldOf(field);
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

/** One value of a field. */
function fieldOf({ message, scalar }: DescField): Field {
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

const tooManyValues = () => refused(`The request has more than ${maxValues} values`);

const refused = (problem: string) => fail(commonErrors.invalidRequest, { params: { problem } });
