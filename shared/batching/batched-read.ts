import type { SpanContext } from '@opentelemetry/api';
import { CallSignal } from '../cancellation/signal.ts';
import type { Asking } from '../db/database.ts';
import { databaseErrors } from '../db/errors.ts';
import { fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import { type Waiter, WaitingLine } from '../fairness/waiting-line.ts';
import { activeSpan } from '../telemetry/tracing.ts';

/**
 * Reads the values of several keys at once. The result omits keys without a value.
 *
 * @param take returns the keys of all waiting reads, and is called once the statement can be sent. It returns no keys
 * when no read waits any more.
 */
export type Load<Key, Value> = (take: () => readonly Key[], asking: Asking) => Promise<ReadonlyMap<Key, Value>>;

export interface BatchBounds {
  /** The maximum number of concurrent batches. Later reads wait and share the next one. */
  readonly maxRunning: number;
  /** A batch with this many keys takes no further read. Its last read may exceed the number. */
  readonly maxKeys: number;
  /** The maximum number of reads in a batch: all of them continue in one turn of the event loop. */
  readonly maxReads: number;
}

// More concurrent statements would each have fewer keys, and would cost PostgreSQL more in total.
const maxRunning = 3;

/** For values of a few fields. */
export const tinyValues: BatchBounds = { maxRunning, maxKeys: 128, maxReads: 128 };

/** For values that are slower to read and encode. A large batch of them would delay all other calls. */
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
 * Reads by key, sharing one statement between concurrent calls. A read joins the next statement, never one that is
 * running. It therefore sees every write that was acknowledged before it. Callers join in turn. A read waits for others
 * only while `maxRunning` statements run.
 *
 * Use it only for small or shared values: a call gives up its permit to wait, and encodes its value without one.
 */
export class BatchedRead<Key, Value> {
  readonly #load: Load<Key, Value>;
  readonly #bounds: BatchBounds;
  readonly #waiting = new WaitingLine<Reader<Key, Value>>();
  #running = 0;
  #isDue = false;
  /** Whether the last batch had one read. The next read then most likely comes alone, too. */
  #wasLastAlone = true;

  constructor(load: Load<Key, Value>, bounds: BatchBounds) {
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
      caller.releasePermit?.();
      this.#startSoon();
    });
  }

  /**
   * Starts a batch after the current turn of the event loop, so that calls of the same turn join it. A
   * lone read starts at once.
   */
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
      // The batch is full, so the remaining reads need another one.
      if (this.#waiting.size > 0) this.#startSoon();
      return keys;
    };
    this.#running += 1;
    try {
      const values = await this.#load(take, { signal: batch.signal, sharing });
      for (const reader of batch.readers) reader.resolve(values);
    } catch (error) {
      // The load failed before it got a connection, so it never took the waiting reads.
      if (!isTaken) take();
      for (const reader of batch.readers) reader.reject(error);
    } finally {
      this.#running -= 1;
      if (this.#waiting.size > 0) this.#startSoon();
    }
  }

  /** Moves waiting reads into a batch until the line is empty or the batch is full. Returns their keys. */
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
