import type { Caller } from '../db/caller.ts';
import type { Database } from '../db/database.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { KeyedStatement } from './keyed-statement.ts';
import { SharedRead, smallValues, tinyValues } from './shared-read.ts';

/** Creates a shared read of rows by key, for rows of a few fields. */
export function sharedRows<Key, Row>(
  database: Database,
  select: KeyedStatement<Key, Row>,
  keyOf: (row: Row) => Key,
): SharedRead<Key, Row> {
  return new SharedRead(async (keys, process) => {
    const rows = await database.for(process).query(select(keys, {}));
    return new Map(rows.map((row) => [keyOf(row), row]));
  }, tinyValues);
}

/** A row with its key. Of a row larger than `maxSize`, only the key. */
export type Sized<Keyed, Row> =
  | (Keyed & Row & { readonly isTooLarge: false })
  | (Keyed & { readonly isTooLarge: true });

/** How to read rows that are small with few exceptions. */
export interface SizedRead<Key, Keyed, Row, Value> {
  readonly select: KeyedStatement<Key, Sized<Keyed, Row>, { maxSize: number }>;
  keyOf(row: Keyed): Key;
  /** Converts a row. Concurrent calls share the value. */
  toValue(row: Keyed & Row): Value;
  /** The largest row that calls read together, and the largest that is read at all. */
  readonly maxSizes: { readonly shared: number; readonly alone: number };
}

/**
 * Returns a function that reads a row by key and resolves with undefined for a key without a row. Calls share a
 * statement for small rows. A call reads a large row alone, while it holds a permit to execute. The function rejects as
 * `SharedRead` does, with OVERLOADED if no permit is released in time, and with RESOURCE_EXHAUSTED ANSWER_TOO_LARGE
 * for a row over `maxSizes.alone`.
 */
export function readBySize<Key, Keyed, Row, Value>(
  database: Database,
  { select, keyOf, toValue, maxSizes }: SizedRead<Key, Keyed, Row, Value>,
): (key: Key, caller: Caller) => Promise<Value | undefined> {
  const shared = new SharedRead<Key, Value | typeof large>(async (keys, process) => {
    const rows = await database.for(process).query(select(keys, { maxSize: maxSizes.shared }));
    return new Map(rows.map((row) => [keyOf(row), row.isTooLarge ? large : toValue(row)]));
  }, smallValues);
  return async (key, caller) => {
    const value = await shared.read(key, caller);
    if (value !== large) return value;
    await caller.takePermit?.();
    const [row] = await database.for(caller).query(select([key], { maxSize: maxSizes.alone }));
    if (row?.isTooLarge) throw fail(commonErrors.answerTooLarge);
    return row && toValue(row);
  };
}

const large = Symbol('a large row');
