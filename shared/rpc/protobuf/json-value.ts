import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { ListValueSchema, StructSchema, type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../../errors/errors.ts';
import { type FieldWriter, mapKey, mapValue } from './field-writer.ts';

// Protobuf decodes at most 100 nested messages, and a level of JSON takes two.
const maxDepth = 32;

/**
 * Converts a `google.protobuf.Value` to plain JSON. Throws INVALID_ARGUMENT for the field when the value
 * is missing, or when it can't be stored and read back: NaN, a NUL, ill-formed Unicode, deep nesting.
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
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === maxDepth) return `is nested deeper than ${maxDepth} levels`;
  for (const [key, item] of Object.entries(value)) {
    const violation = violationOfText(key) ?? violationOf(item, depth + 1);
    if (violation !== undefined) return violation;
  }
  return undefined;
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
