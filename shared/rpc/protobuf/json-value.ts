import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { ListValueSchema, StructSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../errors/errors.ts';
import { type FieldWriter, mapKey, mapValue } from './field-writer.ts';

// Protobuf decodes at most 100 nested messages, and a level of JSON takes two.
const maxDepth = 32;

/**
 * Converts a `google.protobuf.Value` to plain JSON. Throws INVALID_ARGUMENT for the field when the value
 * is missing, or when it can't be stored and read back: NaN, an integer that a double can't hold, a NUL, ill-formed Unicode,
 * deep nesting.
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

/** An integer that is written in digits, but not exact as a double: which one the caller meant is lost already. */
function violationOfNumber(number: number): string | undefined {
  const isExact = Number.isSafeInteger(number) || !Number.isInteger(number) || Math.abs(number) >= 1e21;
  return isExact ? undefined : 'holds an integer beyond 2^53 - 1, which JSON does not keep';
}

function violationOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL';
  return text.isWellFormed() ? undefined : 'holds text that is no Unicode';
}

const kinds = ValueSchema.field;
const entries = StructSchema.field.fields.number;
const items = ListValueSchema.field.values.number;

/** Writes plain JSON as the fields of a `google.protobuf.Value`. */
export function writeValue(writer: FieldWriter, value: JsonValue): void {
  if (value === null) {
    writer.int32(kinds.nullValue.number, 0);
  } else if (typeof value === 'number') {
    writer.double(kinds.numberValue.number, value);
  } else if (typeof value === 'string') {
    writer.string(kinds.stringValue.number, value);
  } else if (typeof value === 'boolean') {
    writer.bool(kinds.boolValue.number, value);
  } else if (Array.isArray(value)) {
    writer.message(kinds.listValue.number, () => {
      for (const item of value) writer.message(items, () => writeValue(writer, item));
    });
  } else {
    writer.message(kinds.structValue.number, () => {
      for (const [key, item] of Object.entries(value)) {
        writer.message(entries, () => {
          writer.string(mapKey, key).message(mapValue, () => writeValue(writer, item));
        });
      }
    });
  }
}

/**
 * Reads a message whose first field is a `google.protobuf.Value` that `writeValue` wrote. To decode it as
 * a message takes four times as long.
 */
export function readWrittenValue(message: Uint8Array): JsonValue {
  const reader = new BinaryReader(message);
  reader.tag();
  reader.uint32();
  return readValue(reader);
}

function readValue(reader: BinaryReader): JsonValue {
  const [kind] = reader.tag();
  if (kind === kinds.numberValue.number) return reader.double();
  if (kind === kinds.stringValue.number) return reader.string();
  if (kind === kinds.boolValue.number) return reader.bool();
  if (kind === kinds.nullValue.number) {
    reader.int32();
    return null;
  }
  const end = reader.uint32() + reader.pos;
  if (kind === kinds.listValue.number) {
    const list: JsonValue[] = [];
    while (reader.pos < end) {
      // The tag and the length of an item.
      reader.tag();
      reader.uint32();
      list.push(readValue(reader));
    }
    return list;
  }
  const object: [string, JsonValue][] = [];
  while (reader.pos < end) {
    // The tag and the length of an entry, the tag of its key, and the tag and the length of its value.
    reader.tag();
    reader.uint32();
    reader.tag();
    const key = reader.string();
    reader.tag();
    reader.uint32();
    object.push([key, readValue(reader)]);
  }
  return Object.fromEntries(object);
}
