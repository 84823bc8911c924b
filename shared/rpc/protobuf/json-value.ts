import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { ListValueSchema, StructSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../errors/errors.ts';
import { type BinaryWriter, mapKey, mapValue } from './binary-writer.ts';

// Protobuf's binary form of a value is read to a depth of 100 messages, and takes two a level.
const deepest = 32;

/**
 * An any-JSON field as plain JSON. Throws INVALID_ARGUMENT that names the field for no value, and for
 * one that can't be stored and read back: NaN, a NUL, text that is no Unicode, deep nesting.
 */
export function readJson(field: string, value: Value | undefined): JsonValue {
  let json: JsonValue;
  try {
    if (value === undefined) throw new Error('no value');
    json = toJson(ValueSchema, value);
  } catch {
    throw invalidField(field, 'is not a JSON value');
  }
  const fault = faultOf(json, 0);
  if (fault !== undefined) throw invalidField(field, fault);
  return json;
}

function faultOf(value: JsonValue, depth: number): string | undefined {
  if (typeof value === 'string') return faultOfText(value);
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === deepest) return `is nested deeper than ${deepest} levels`;
  for (const [key, item] of Object.entries(value)) {
    const fault = faultOfText(key) ?? faultOf(item, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function faultOfText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not hold a NUL';
  return text.isWellFormed() ? undefined : 'holds text that is no Unicode';
}

const kinds = ValueSchema.field;
const entries = StructSchema.field.fields.number;
const items = ListValueSchema.field.values.number;

/** Writes the fields of a `google.protobuf.Value`. */
export function writeValue(writer: BinaryWriter, value: JsonValue): void {
  if (value === null) {
    writer.int(kinds.nullValue.number, 0);
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
