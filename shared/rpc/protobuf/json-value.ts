import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { ListValueSchema, StructSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../errors/errors.ts';

// Protobuf decodes at most 100 nested messages, and each level of JSON takes two of them.
const maxDepth = 32;

/**
 * Converts a `google.protobuf.Value` to plain JSON. Throws INVALID_ARGUMENT for the field if the value is
 * missing or can't be stored and read back: NaN, an integer beyond a double's precision, a NUL, ill-formed
 * Unicode, or deep nesting.
 */
export function readJson(field: string, value: Value | undefined): JsonValue {
  let json: JsonValue;
  try {
    if (value === undefined) throw new Error('no value');
    json = toJson(ValueSchema, value);
  } catch {
    throw invalidField(field, 'is not a JSON value');
  }
  const violation = violationOf(json, 0);
  if (violation !== undefined) throw invalidField(field, violation);
  return json;
}

function violationOf(value: JsonValue, depth: number): string | undefined {
  if (typeof value === 'string') return violationOfText(value);
  if (typeof value === 'number') return violationOfNumber(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === maxDepth) return `is nested deeper than ${maxDepth} levels`;
  for (const [key, item] of Object.entries(value)) {
    const violation = violationOfText(key) ?? violationOf(item, depth + 1);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

/** Reports an integer that a double can't hold exactly: decoding has already rounded it. */
function violationOfNumber(number: number): string | undefined {
  const isExact = Number.isSafeInteger(number) || !Number.isInteger(number) || Math.abs(number) >= 1e21;
  return isExact ? undefined : 'holds an integer beyond 2^53 - 1, which JSON does not keep';
}

function violationOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL';
  return text.isWellFormed() ? undefined : 'holds text that is no Unicode';
}

const { nullValue, numberValue, stringValue, boolValue, structValue, listValue } = ValueSchema.field;
const [mapKey, mapValue] = [1, 2];
/** Writes JSON as a `google.protobuf.Value`. */
export function writeValue(writer: BinaryWriter, json: unknown): void {
  const open = (field: number) => writer.tag(field, WireType.LengthDelimited).fork();
  if (json === null) writer.tag(nullValue.number, WireType.Varint).int32(0);
  else if (typeof json === 'number') writer.tag(numberValue.number, WireType.Bit64).double(json);
  else if (typeof json === 'string') writer.tag(stringValue.number, WireType.LengthDelimited).string(json);
  else if (typeof json === 'boolean') writer.tag(boolValue.number, WireType.Varint).bool(json);
  else if (Array.isArray(json)) {
    open(listValue.number);
    for (const item of json) {
      open(ListValueSchema.field.values.number);
      writeValue(writer, item);
      writer.join();
    }
    writer.join();
  } else {
    open(structValue.number);
    writeStruct(writer, json);
    writer.join();
  }
}

/** Writes a JSON object as a `google.protobuf.Struct`. */
export function writeStruct(writer: BinaryWriter, json: unknown): void {
  for (const [key, item] of Object.entries(Object(json))) {
    writer.tag(StructSchema.field.fields.number, WireType.LengthDelimited).fork();
    writer.tag(mapKey, WireType.LengthDelimited).string(key);
    writer.tag(mapValue, WireType.LengthDelimited).fork();
    writeValue(writer, item);
    writer.join().join();
  }
}
