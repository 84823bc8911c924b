import { type Context, context } from '@opentelemetry/api';
import { CallSignal } from '../cancellation/signal.ts';
import type { Caller } from '../db/caller.ts';
import type { Database } from '../db/database.ts';
import { databaseErrors } from '../db/errors.ts';
import { type BoundStatement, statement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import { type Waiter, WaitingLine } from '../fairness/fair-queue.ts';

/** Reads the values of several keys at once, on behalf of the process. The result omits keys without a value. */
export type Load<Key, Value> = (keys: readonly Key[], process: Caller) => Promise<ReadonlyMap<Key, Value>>;

export interface ReadBounds {
  /** The maximum number of concurrent loads. Later reads wait and share the next one. */
  readonly maxRunning: number;
  /** A load with this many keys takes no further read. Its last read may exceed the number. */
  readonly maxKeys: number;
  /** The maximum number of reads that share a load: all of them continue in one turn of the event loop. */
  readonly maxReads: number;
}

// More concurrent statements would each have fewer keys, and would cost PostgreSQL more in total.
const maxRunning = 3;

/** For values of a few fields. */
export const tinyValues: ReadBounds = { maxRunning, maxKeys: 128, maxReads: 128 };

/** For values that are slower to read and encode. Many of them at once would delay all other calls. */
export const smallValues: ReadBounds = { maxRunning, maxKeys: 16, maxReads: 64 };

interface Reader<Key, Value> extends Waiter {
  readonly keys: readonly Key[];
  readonly trace: Context;
  resolve(values: ReadonlyMap<Key, Value>): void;
  reject(error: unknown): void;
}

/**
 * Reads by key, sharing one statement between concurrent calls. A read joins the next statement, never one that is
 * running. It therefore sees every write that was acknowledged before it. Callers join in turn.
 *
 * Use it only for small or shared values: a call gives up its permit to wait, and encodes its value without one.
 */
export class SharedRead<Key, Value> {
  readonly #load: Load<Key, Value>;
  readonly #bounds: ReadBounds;
  readonly #waiting = new WaitingLine<Reader<Key, Value>>();
  #running = 0;
  #isDue = false;
  /** Whether the last load had one read. The next read then most likely comes alone, too. */
  #wasLastAlone = true;

  constructor(load: Load<Key, Value>, bounds: ReadBounds) {
    this.#load = load;
    this.#bounds = bounds;
  }

  /** Resolves with the value of a key; undefined if it has none. Rejects as `readAll` does. */
  async read(key: Key, caller: Caller): Promise<Value | undefined> {
    return (await this.readAll([key], caller)).get(key);
  }

  /**
   * Resolves with the values of the keys, and possibly with those of other callers' keys. Rejects with the error of the
   * load, with the reason of the caller's signal when that aborts, and with RESOURCE_EXHAUSTED DATABASE_POOL_EXHAUSTED
   * when the read has waited for the caller's `maxWaitMs`.
   */
  readAll(keys: readonly Key[], caller: Caller): Promise<ReadonlyMap<Key, Value>> {
    const { subject, signal, maxWaitMs = Number.POSITIVE_INFINITY } = caller;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = () => {
        this.#waiting.delete(subject, reader);
        reader.reject(signal.aborted ? signal.reason : fail(databaseErrors.poolExhausted));
      };
      const reader: Reader<Key, Value> = {
        keys,
        trace: context.active(),
        untilMs: performance.now() + maxWaitMs,
        leave,
        resolve(values) {
          signal.removeEventListener('abort', leave);
          resolve(values);
        },
        reject(error) {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave);
      this.#waiting.push(subject, reader);
      caller.releasePermit?.();
      this.#start();
    });
  }

  /** Starts a load: a lone read's at once, others after this turn of the event loop, so that calls of the turn join. */
  #start(): void {
    if (this.#isDue || this.#running >= this.#bounds.maxRunning) return;
    if (this.#wasLastAlone && this.#running === 0) return void this.#run();
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const { readers, keys } = this.#takeReaders();
    const [first] = readers;
    if (first === undefined) return;
    this.#wasLastAlone = readers.length === 1;
    this.#running += 1;
    try {
      // The span of the statement belongs to the first call.
      const values = await context.with(first.trace, () => this.#load([...keys], { signal: new CallSignal() }));
      for (const reader of readers) reader.resolve(values);
    } catch (error) {
      for (const reader of readers) reader.reject(error);
    } finally {
      this.#running -= 1;
      if (this.#waiting.size > 0) this.#start();
    }
  }

  #takeReaders() {
    const { maxKeys, maxReads } = this.#bounds;
    const readers: Reader<Key, Value>[] = [];
    const keys = new Set<Key>();
    while (keys.size < maxKeys && readers.length < maxReads) {
      const reader = this.#waiting.shift();
      if (reader === undefined) break;
      readers.push(reader);
      for (const key of reader.keys) keys.add(key);
    }
    return { readers, keys };
  }
}

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

/** Binds the keys and the other parameters. */
export type KeyedStatement<Key, Row, Params extends object = Record<never, never>> = (
  keys: readonly Key[],
  params: Params,
) => BoundStatement<Row>;

/**
 * Declares SQL that reads the row of one key, written as `$key`. For several keys, one statement reads all rows, in any
 * order, so a row must contain its key. A key may have no row.
 *
 * @param name as for `statement`.
 * @param keyType the type of `$key` in PostgreSQL.
 */
export function keyedStatement<Key extends string | number, Row, Params extends object = Record<never, never>>(
  name: string,
  keyType: Key extends number ? 'integer' : 'text',
  sql: string,
): KeyedStatement<Key, Row, Params> {
  const sqlOf = (key: string) => sql.replace(/\$key\b/g, `${key}::${keyType}`);
  const one = statement<Row, Record<string, unknown>>(name, sqlOf('$key'));
  // "offset 0" keeps the planner from merging the two queries, so that it looks up one key after the other.
  const several = statement<Row, Record<string, unknown>>(
    `${name}Several`,
    `select found.*
     from unnest($keys::${keyType}[]) as asked (key), lateral (
       ${sqlOf('asked.key')}
       offset 0
     ) as found`,
  );
  return (keys, params) => (keys.length === 1 ? one({ ...params, key: keys[0] }) : several({ ...params, keys }));
}
