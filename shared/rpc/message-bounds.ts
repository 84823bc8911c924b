import { type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { commonErrors, fail } from './errors.ts';

/** What a message is written in. */
export type Form = 'json' | 'proto';

/**
 * The most values of a request. In binary form each field is one, and so are five integers that are
 * packed into one field. In JSON each entry of a list or an object is one; a list or an object is two
 * more, and a key four, in proportion to the time that they take to decode.
 */
const maxValues = 120_000;
const packedPerValue = 5;
const valuesOfContainer = 2;
const valuesOfKey = 4;

/** As deep as protobuf reads either form. */
const maxDepth = 100;

/**
 * Counts the values of a request before it is decoded, and how deep they are nested: to decode takes a
 * hundred times as long as to count, and 4 MiB of brackets would hold up all other calls for seconds.
 * Bytes that are no message are left to the decoder.
 *
 * @throws INVALID_ARGUMENT for more than 120,000 values, and for JSON of more than 100 levels.
 */
export function boundMessage(form: Form, schema: DescMessage, bytes: Uint8Array): void {
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
        values += valuesOfContainer;
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        break;
      case comma:
        values += 1;
        break;
      case colon:
        values += valuesOfKey;
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

function boundBinary(schema: DescMessage, bytes: Uint8Array): void {
  const reader = new BinaryReader(bytes);
  let values = 0;
  const count = (shape: Shape, end: number, depth: number) => {
    while (reader.pos < end) {
      const [field, wireType] = reader.tag();
      values += 1;
      const content = wireType === WireType.LengthDelimited ? shape.get(field) : undefined;
      // What is deeper the decoder refuses before it has read it.
      if (content === undefined || depth === maxDepth) reader.skip(wireType, field);
      else if (content === packed) values += countVarints(reader.bytes()) / packedPerValue;
      else count(content, reader.uint32() + reader.pos, depth + 1);
      if (values > maxValues) throw tooManyValues();
    }
  };
  try {
    count(shapeOf(schema), bytes.byteLength, 0);
  } catch (error) {
    if (values > maxValues) throw error;
  }
}

function countVarints(bytes: Uint8Array): number {
  let count = 0;
  for (const byte of bytes) if (byte < 0x80) count += 1;
  return count;
}

const packed = 'packed';

/** What the fields of a message hold that are messages or lists of integers, by their numbers. */
type Shape = ReadonlyMap<number, Shape | typeof packed>;

const shapes = new Map<DescMessage, Shape>();
const mapValue = 2;

function shapeOf(schema: DescMessage): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const shape = new Map<number, Shape | typeof packed>();
  shapes.set(schema, shape);
  for (const field of schema.fields) {
    if (field.fieldKind === 'list' && field.listKind === 'scalar' && field.scalar === ScalarType.INT32) {
      shape.set(field.number, packed);
    }
    if (field.message === undefined) continue;
    const inner = shapeOf(field.message);
    shape.set(field.number, field.fieldKind === 'map' ? new Map([[mapValue, inner]]) : inner);
  }
  return shape;
}

const tooManyValues = () => refused(`The request has more than ${maxValues} values`);

const refused = (problem: string) => fail(commonErrors.invalidRequest, { params: { problem } });
