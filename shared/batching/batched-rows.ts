import type { Database } from '../db/database.ts';
import type { BoundStatement } from '../db/statement.ts';
import type { LateStatement } from '../db/transaction.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import { BatchedRead, smallValues, tinyValues } from './batched-read.ts';
import type { KeyedStatement } from './keyed-statement.ts';

/** Creates a batched read of rows by key, for rows of a few fields. */
export function batchedRows<Key, Row>(
  database: Database,
  select: KeyedStatement<Key, Row>,
  keyOf: (row: Row) => Key,
): BatchedRead<Key, Row> {
  return new BatchedRead(async (take, asking) => {
    const rows = await database.for(asking).queryLate(statementOf(take, (keys) => select(keys, {})));
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
  /** The largest row that is read in a batch, and the largest that is read at all. */
  readonly maxSizes: { readonly shared: number; readonly alone: number };
}

/**
 * Returns a function that reads a row by key and resolves with undefined for a key without a row. Calls share a
 * statement for small rows. A call reads a large row alone, while it holds a permit to execute. The function rejects as
 * `BatchedRead` does, with OVERLOADED if no permit is released in time, and with RESOURCE_EXHAUSTED ANSWER_TOO_LARGE
 * for a row over `maxSizes.alone`.
 */
export function readBySize<Key, Keyed, Row, Value>(
  database: Database,
  { select, keyOf, toValue, maxSizes }: SizedRead<Key, Keyed, Row, Value>,
): (key: Key, caller: Caller) => Promise<Value | undefined> {
  const selectSmall = (keys: readonly Key[]) => select(keys, { maxSize: maxSizes.shared });
  const shared = new BatchedRead<Key, Value | typeof large>(async (take, asking) => {
    const rows = await database.for(asking).queryLate(statementOf(take, selectSmall));
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

/** Binds the keys only when the statement can be sent, so that reads can join until then. */
function statementOf<Key, Row>(
  take: () => readonly Key[],
  select: (keys: readonly Key[]) => BoundStatement<Row>,
): LateStatement<Row> {
  return () => {
    const keys = take();
    return keys.length === 0 ? undefined : select(keys);
  };
}
