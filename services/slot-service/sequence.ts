import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@bufbuild/protobuf';
import NodeCache from 'node-cache';
import { type Queryable, statement } from '../../shared/db/database.ts';
import { fail, invalidField } from '../../shared/errors/errors.ts';
import type { Metrics } from '../../shared/telemetry/metrics.ts';
import { slotErrors } from './errors.ts';

const lifetimeSeconds = 3600;
const largestInt32 = 2 ** 31 - 1;

/** A map of user id to integers, such as the stops of each driver. */
export type SequenceMap = Record<string, number[]>;

/** Whether a value is a map of string to integers, the only kind that is cached (spec 4.1). */
export function isSequenceMap(value: JsonValue): value is SequenceMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isIntegers);
}

function isIntegers(value: JsonValue): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item));
}

/** Keeps a slot's sequence as it was read. */
export type KeepSequence = (slotId: number, sequence: SequenceMap) => void;

/** An update of a slot's sequence by this process. */
export interface SequenceUpdate {
  /** What its notification names as the sender. */
  readonly id: string;
  /** Keeps what was stored, unless another change came in between: nobody here knows which was last. */
  keep(sequence: SequenceMap): void;
  /** Keeps nothing: the update failed, and may have been committed all the same, or may still be. */
  failed(): void;
}

/** The delivery sequences of this process, for 3600 s each; a failure of the cache is no failure. */
export class SequenceCache {
  readonly #cache: NodeCache;
  #changes = 0;
  #bypassed = false;
  /** Updates of this process that have not failed: their notifications, still to come, are ignored. */
  readonly #own = new Set<string>();

  constructor(maxEntries = 100_000) {
    this.#cache = new NodeCache({ stdTTL: lifetimeSeconds, useClones: false, maxKeys: maxEntries });
  }

  get(slotId: number): SequenceMap | undefined {
    return this.#cache.get<SequenceMap>(slotId);
  }

  /**
   * Call before a read of the database: the function that it returns keeps what was read, unless a
   * change came in between, which the read may not have seen.
   */
  beginRead(): KeepSequence {
    const changesBefore = this.#changes;
    return (slotId, sequence) => {
      if (this.#changes === changesBefore) this.#store(slotId, sequence);
    };
  }

  /** Call before an update of the database. */
  beginUpdate(slotId: number): SequenceUpdate {
    const changesBefore = this.#changes;
    const id = randomUUID();
    // While nothing is heard, its notification would never come.
    if (!this.#bypassed) this.#own.add(id);
    return {
      id,
      keep: (sequence) => {
        const isLast = this.#changes === changesBefore;
        this.#drop(slotId);
        if (isLast) this.#store(slotId, sequence);
      },
      failed: () => {
        this.#own.delete(id);
        this.#drop(slotId);
      },
    };
  }

  /** Called for each notification. That of an own update is ignored: `keep` or `failed` handles it. */
  hear(slotId: number, sender: string): void {
    if (!this.#own.delete(sender)) this.#drop(slotId);
  }

  #drop(slotId: number): void {
    this.#changes += 1;
    this.#cache.del(slotId);
  }

  /** Forgets everything and keeps nothing, while changes by other replicas can't be heard. */
  bypass(): void {
    this.#bypassed = true;
    this.#changes += 1;
    this.#own.clear();
    this.#cache.flushAll();
  }

  /** Works again after `bypass`. A read that began before may have missed a change that nobody heard. */
  resume(): void {
    this.#changes += 1;
    this.#bypassed = false;
  }

  /** A cache that is full refuses new entries: the call goes on without it. */
  #store(slotId: number, sequence: SequenceMap): void {
    if (this.#bypassed) return;
    try {
      this.#cache.set(slotId, sequence);
    } catch {
      this.#cache.del(slotId);
    }
  }

  /** Declares the metrics of the cache. */
  registerMetrics(metrics: Metrics): void {
    const read = () => this.#cache.getStats();
    metrics.counter(
      { name: 'delivery_sequence_cache_hits_total', help: 'Reads that the cache served.' },
      () => read().hits,
    );
    metrics.counter(
      { name: 'delivery_sequence_cache_misses_total', help: 'Reads that it did not.' },
      () => read().misses,
    );
    metrics.gauge(
      { name: 'delivery_sequence_cache_entries', help: 'Delivery sequences in the cache.' },
      () => read().keys,
    );
    metrics.gauge(
      { name: 'delivery_sequence_cache_bypassed', help: '1 while changes by other replicas cannot be heard.' },
      () => Number(this.#bypassed),
    );
  }

  close(): void {
    this.#cache.close();
  }
}

/** Reads the id of getDeliverySequence. Throws INVALID_ARGUMENT for what is no int32. */
export function parseSlotId(text: string): number {
  const id = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(id) || !isInt32(id)) {
    throw invalidField('id', 'is not a slot id, an integer of 32 bits');
  }
  return id;
}

const getDeliverySequenceRow = statement<{ deliverySequence: JsonValue }>(
  'getDeliverySequence',
  'select delivery_sequence as "deliverySequence" from slots where id = $1',
);

/**
 * Spec 4.1, getDeliverySequence.
 *
 * @returns the cached copy, else what is stored, with null as an empty object.
 * @throws NOT_FOUND.
 */
export async function getDeliverySequence(db: Queryable, sequences: SequenceCache, slotId: number): Promise<JsonValue> {
  const cached = sequences.get(slotId);
  if (cached !== undefined) return cached;
  const keep = sequences.beginRead();
  const [slot] = await db.query(getDeliverySequenceRow, [slotId]);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  const sequence = slot.deliverySequence ?? {};
  if (isSequenceMap(sequence)) keep(slotId, sequence);
  return sequence;
}

/** The channel on which replicas tell each other which sequence they changed. */
export const sequenceChannel = 'delivery_sequence';

const updateDeliverySequenceRow = statement<{ id: number; deliverySequence: JsonValue }>(
  'updateDeliverySequence',
  `with slots as (update slots set delivery_sequence = $2::jsonb where id = $1 returning *),
   told as (
     select pg_notify('${sequenceChannel}', json_build_object('slotId', id, 'sender', $3::text)::text)
     from slots where $3 is not null
   )
   select id, delivery_sequence as "deliverySequence", (select count(*) from told) from slots`,
);

/**
 * Spec 4.1, updateDeliverySequence: stores the value as it is given. Throws NOT_FOUND.
 *
 * @param update given for a map: the other replicas then drop their copies once it is committed; this
 * one's is for the caller to rewrite.
 */
export async function updateDeliverySequence(
  db: Queryable,
  { id, deliverySequence }: { id: number; deliverySequence: JsonValue },
  update: SequenceUpdate | undefined,
): Promise<{ id: number; deliverySequence: JsonValue }> {
  const values = [id, JSON.stringify(deliverySequence), update?.id];
  const [slot] = await db.query(updateDeliverySequenceRow, values);
  if (slot === undefined) throw fail(slotErrors.slotNotFound);
  return slot;
}

/**
 * The sequence that getSlotById shows (design 2 and 7): a stored array of integers as it is; of a
 * map the arrays one after the other, numeric keys ascending, then others by text; else nothing.
 */
export function flattenSequence(value: JsonValue): number[] {
  const flat = isSequenceMap(value)
    ? Object.keys(value)
        .sort(byUser)
        .flatMap((user) => value[user] ?? [])
    : value;
  return isIntegers(flat) && flat.every(isInt32) ? flat : [];
}

const isInt32 = (value: number) => value <= largestInt32 && value >= -largestInt32 - 1;

const isNumeric = (key: string) => /^[+-]?\d+$/.test(key);

function byUser(left: string, right: string): number {
  if (isNumeric(left) !== isNumeric(right)) return isNumeric(left) ? -1 : 1;
  const byNumber = isNumeric(left) ? Number(left) - Number(right) : 0;
  return byNumber || (left < right ? -1 : 1);
}
