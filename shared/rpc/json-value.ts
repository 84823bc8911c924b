import { type JsonValue, toJson } from '@bufbuild/protobuf';
import { type Value, ValueSchema } from '@bufbuild/protobuf/wkt';
import { invalidField } from '../errors/errors.ts';

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
