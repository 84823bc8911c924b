import type { Database } from '../db/database.ts';
import type { BoundStatement } from '../db/statement.ts';
import type { LateStatement } from '../db/transaction.ts';
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
    const rows = await database.for(asking).queryLate(statementOf(take, (keys) => select(keys, {})));
    return new Map(rows.map((row) => [keyOf(row), row]));
  }, tinyValues);
}

/** A row and its key, or the key alone of a row that is larger than its statement allows. */
export type Sized<Keyed, Row> =
  | (Keyed & Row & { readonly isTooLarge: false })
  | (Keyed & { readonly isTooLarge: true });

/** How rows are read of which nearly all are small. */
export interface SizedRead<Key, Keyed, Row, Value> {
  readonly select: KeyedStatement<Key, Sized<Keyed, Row>, { maxSize: number }>;
  keyOf(row: Keyed): Key;
  /** Makes the value of a row. Calls share it. */
  toValue(row: Keyed & Row): Value;
  /** The largest row that is read together with others, and the largest that is read at all. */
  readonly maxSizes: { readonly shared: number; readonly alone: number };
}

/**
 * Returns a read of a row by key, undefined for a key without one. Calls share a statement for small rows; a large one is
 * read by its call alone, on a place. The read rejects as `BatchedRead` does, with OVERLOADED when there is no place in time,
 * and with RESOURCE_EXHAUSTED ANSWER_TOO_LARGE for a row that is too large for that, too.
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
    await caller.takePlace?.();
    const [row] = await database.for(caller).query(select([key], { maxSize: maxSizes.alone }));
    if (row?.isTooLarge) throw fail(commonErrors.answerTooLarge);
    return row && toValue(row);
  };
}

const large = Symbol('a large row');

/** The statement of the keys that are waited for when it can be sent. */
function statementOf<Key, Row>(
  take: () => readonly Key[],
  select: (keys: readonly Key[]) => BoundStatement<Row>,
): LateStatement<Row> {
  return () => {
    const keys = take();
    return keys.length === 0 ? undefined : select(keys);
  };
}
