import type { Database, LateStatement } from '../db/database.ts';
import type { BoundStatement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import { BatchedRead, smallValues, tinyValues } from './batched-read.ts';
import type { KeyedStatement } from './keyed-statement.ts';

/** A batched read of rows by key, for rows of a few fields. */
export function batchedRows<Key, Row>(
  database: Database,
  select: KeyedStatement<Key, Row>,
  keyOf: (row: Row) => Key,
): BatchedRead<Key, Row> {
  return new BatchedRead(async (take, asking) => {
    const rows = await database.for(asking).queryLate(lately(take, (keys) => select(keys, {})));
    return new Map(rows.map((row) => [keyOf(row), row]));
  }, tinyValues);
}

/** A row that is not read as a whole when it is larger than its statement allows. */
export interface SizedRow {
  readonly isTooLarge: boolean;
}

/** How rows are read of which nearly all are small. */
export interface SizedRead<Key, Row extends SizedRow, Value> {
  readonly select: KeyedStatement<Key, Row, { maxSize: number }>;
  keyOf(row: Row): Key;
  /** Makes the value of a row that is not too large. Calls share it. */
  toValue(row: Row): Value;
  /** The largest row that is read together with others, and the largest that is read at all. */
  readonly maxSizes: { readonly shared: number; readonly alone: number };
}

/**
 * Returns a read of a row by key, undefined for a key without one. Calls share a statement for small rows; a large one is
 * read by its call alone, on a place. Throws RESOURCE_EXHAUSTED for one that is too large for that, too.
 */
export function readBySize<Key, Row extends SizedRow, Value>(
  database: Database,
  { select, keyOf, toValue, maxSizes }: SizedRead<Key, Row, Value>,
): (key: Key, caller: Caller) => Promise<Value | undefined> {
  const selectSmall = (keys: readonly Key[]) => select(keys, { maxSize: maxSizes.shared });
  const shared = new BatchedRead<Key, Value | typeof large>(async (take, asking) => {
    const rows = await database.for(asking).queryLate(lately(take, selectSmall));
    return new Map(rows.map((row) => [keyOf(row), row.isTooLarge ? large : toValue(row)]));
  }, smallValues);
  return async (key, caller) => {
    const value = await shared.read(key, caller);
    if (value !== large) return value;
    await caller.takePlace?.();
    const [row] = await database.for(caller).query(select([key], { maxSize: maxSizes.alone }));
    if (row?.isTooLarge) throw fail(commonErrors.answerTooLarge);
    return row && toValue(row);
  };
}

const large = Symbol('a large row');

/** The statement of the keys that are waited for when it can be sent. */
function lately<Key, Row>(
  take: () => readonly Key[],
  select: (keys: readonly Key[]) => BoundStatement<Row>,
): LateStatement<Row> {
  return () => {
    const keys = take();
    return keys.length === 0 ? undefined : select(keys);
  };
}
