import type { SpanContext } from '@opentelemetry/api';
import { CallSignal } from '../cancellation/signal.ts';
import type { Asking } from '../db/database.ts';
import { databaseErrors } from '../db/errors.ts';
import { fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import { type Waiter, WaitingLine } from '../fairness/waiting-line.ts';
import { activeSpan } from '../telemetry/tracing.ts';

/**
 * Reads the values of several keys at once. A key without a value is not in the result.
 *
 * @param take takes the keys of all reads that wait now: it is called when the statement can be sent. None when
 * nobody waits any more.
 */
export type Load<Key, Value> = (take: () => readonly Key[], asking: Asking) => Promise<ReadonlyMap<Key, Value>>;

export interface BatchBounds {
  /** How many batches run at once. Reads that come meanwhile wait, and share the next one. */
  readonly maxRunning: number;
  /** A batch with this many keys takes no further read. The last one that joined may bring more. */
  readonly maxKeys: number;
  /** A batch has at most this many reads, whatever their keys: all of them continue in one turn of the event loop. */
  readonly maxReads: number;
}

// With more statements at once, each has fewer keys, and PostgreSQL has more work.
const maxRunning = 3;

/** For values of a few fields. */
export const tinyValues: BatchBounds = { maxRunning, maxKeys: 128, maxReads: 128 };

/** For values that take some time to read and to encode. A large batch of them would delay all other calls. */
export const smallValues: BatchBounds = { maxRunning, maxKeys: 16, maxReads: 64 };

/** A read that waits for its batch, or is part of one. */
interface Reader<Key, Value> extends Waiter {
  readonly keys: readonly Key[];
  readonly span: SpanContext | undefined;
  batch: Batch<Key, Value> | undefined;
  resolve(values: ReadonlyMap<Key, Value>): void;
  reject(error: unknown): void;
}

interface Batch<Key, Value> {
  readonly readers: Set<Reader<Key, Value>>;
  readonly signal: CallSignal;
}

/**
 * Reads by key, in which calls that wait at the same time share a statement. A read joins the next
 * statement and never one that has begun, so it sees every write that was answered before it came. The
 * callers join in turn. No read waits for others to come, unless `maxRunning` statements are under way.
 *
 * For values that are small or shared, because a call that waits here holds no place.
 */
export class BatchedRead<Key, Value> {
  readonly #load: Load<Key, Value>;
  readonly #bounds: BatchBounds;
  readonly #waiting = new WaitingLine<Reader<Key, Value>>();
  #running = 0;
  #isDue = false;
  /** Whether the last batch was one read: then the next read most likely comes alone, too. */
  #wasLastAlone = true;

  constructor(load: Load<Key, Value>, bounds: BatchBounds) {
    this.#load = load;
    this.#bounds = bounds;
  }

  /** Reads the value of a key; undefined when it has none. Rejects as `readAll` does. */
  async read(key: Key, caller: Caller): Promise<Value | undefined> {
    return (await this.readAll([key], caller)).get(key);
  }

  /**
   * Reads the values of keys. The result may also have the keys of other callers. Rejects with what the load
   * throws, with the reason of the caller's signal when that aborts, and with RESOURCE_EXHAUSTED
   * DATABASE_POOL_EXHAUSTED when the read has waited for the caller's `maxWaitMs`.
   */
  readAll(keys: readonly Key[], caller: Caller): Promise<ReadonlyMap<Key, Value>> {
    const { subject, signal, maxWaitMs = Number.POSITIVE_INFINITY } = caller;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const leave = () => {
        this.#waiting.delete(subject, reader);
        reader.reject(signal.aborted ? signal.reason : fail(databaseErrors.poolExhausted));
        const { batch } = reader;
        batch?.readers.delete(reader);
        if (batch?.readers.size === 0) batch.signal.abort(() => new Error('all calls have left'));
      };
      const reader: Reader<Key, Value> = {
        keys,
        span: activeSpan(),
        untilMs: performance.now() + maxWaitMs,
        batch: undefined,
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
      caller.leavePlace?.();
      this.#startSoon();
    });
  }

  /** Starts a batch, after the calls that have arrived together with this one: they join it. A lone read does not wait. */
  #startSoon(): void {
    if (this.#isDue || this.#running >= this.#bounds.maxRunning) return;
    if (this.#wasLastAlone && this.#running === 0) return void this.#run();
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      if (this.#waiting.size > 0) void this.#run();
    });
  }

  async #run(): Promise<void> {
    const batch: Batch<Key, Value> = { readers: new Set(), signal: new CallSignal() };
    const sharing: SpanContext[] = [];
    let isTaken = false;
    const take = () => {
      isTaken = true;
      const keys = this.#gather(batch, sharing);
      // The batch is full: the rest goes into the next one.
      if (this.#waiting.size > 0) this.#startSoon();
      return keys;
    };
    this.#running += 1;
    try {
      const values = await this.#load(take, { signal: batch.signal, sharing });
      for (const reader of batch.readers) reader.resolve(values);
    } catch (error) {
      // No connection could be lent.
      if (!isTaken) take();
      for (const reader of batch.readers) reader.reject(error);
    } finally {
      this.#running -= 1;
      if (this.#waiting.size > 0) this.#startSoon();
    }
  }

  /** Takes readers out of the line into a batch, until there are none or it has keys enough. Returns their keys. */
  #gather(batch: Batch<Key, Value>, sharing: SpanContext[]): readonly Key[] {
    const { maxKeys, maxReads } = this.#bounds;
    const keys = new Set<Key>();
    while (keys.size < maxKeys && batch.readers.size < maxReads) {
      const reader = this.#waiting.shift();
      if (reader === undefined) break;
      reader.batch = batch;
      batch.readers.add(reader);
      for (const key of reader.keys) keys.add(key);
      if (reader.span !== undefined) sharing.push(reader.span);
    }
    this.#wasLastAlone = batch.readers.size === 1;
    return [...keys];
  }
}
