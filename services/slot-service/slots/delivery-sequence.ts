import type { JsonValue } from '@bufbuild/protobuf';
import { isInt32 } from '../../../shared/db/int32.ts';

/** Maps user ids to lists of integers, such as the stops of each driver. */
export type SequenceMap = Record<string, number[]>;

/** Whether a value is a map of string to integers (spec 4.1). */
export function isSequenceMap(value: JsonValue): value is SequenceMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isIntegers);
}

/**
 * Returns the sequence that getSlotById shows (design 2 and 7). A stored array of integers is returned as it is.
 * The arrays of a map are concatenated, numeric keys first and ascending, then other keys by text. Any other
 * value gives an empty array.
 */
export function flattenSequence(value: JsonValue): number[] {
  const flat = isSequenceMap(value)
    ? Object.keys(value)
        .sort(byUser)
        .flatMap((user) => value[user] ?? [])
    : value;
  return isIntegers(flat) && flat.every(isInt32) ? flat : [];
}

/** Parses a slot id; undefined for a text that is not an int32 (design 7). */
export function parseSlotId(text: string): number | undefined {
  const id = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isInteger(id) && isInt32(id) ? id : undefined;
}

function isIntegers(value: JsonValue): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item));
}

const isNumeric = (key: string) => /^[+-]?\d+$/.test(key);

function byUser(left: string, right: string): number {
  if (isNumeric(left) !== isNumeric(right)) return isNumeric(left) ? -1 : 1;
  const byNumber = isNumeric(left) ? Number(left) - Number(right) : 0;
  return byNumber || (left < right ? -1 : 1);
}
