import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@bufbuild/protobuf';
import NodeCache from 'node-cache';
import type { Metrics } from '../../../shared/telemetry/metrics.ts';
import { isSequenceMap, type SequenceMap } from './delivery-sequence.ts';

const lifetimeSeconds = 3600;

/** The channel on which a replica notifies the others of a sequence that it changed. */
export const sequenceChannel = 'delivery_sequence';

/**
 * The delivery sequences that this process keeps, for 3600 s each (spec 4.1). Only maps of user ids to
 * integers are valid copies. A failure of the cache is no failure of the call.
 */
export class SequenceCache {
  readonly #cache: NodeCache;
  /** Counts the changes by anyone, so that a read or an update knows whether one came in between. */
  #changes = 0;
  #bypassed = false;
  /** Updates of this process whose notifications are still to come, and to be ignored. */
  readonly #ownUpdates = new Set<string>();

  constructor(maxEntries = 100_000) {
    this.#cache = new NodeCache({ stdTTL: lifetimeSeconds, useClones: false, maxKeys: maxEntries });
  }

  /**
   * Gives the cached copy, or else loads the sequence, and keeps it when it is a map. It keeps nothing
   * when another change came in between, which the load may not have seen.
   */
  async read(slotId: number, load: () => Promise<JsonValue>): Promise<JsonValue> {
    const cached = this.#cache.get<SequenceMap>(slotId);
    if (cached !== undefined) return cached;
    const changesBefore = this.#changes;
    const sequence = await load();
    if (isSequenceMap(sequence) && this.#changes === changesBefore) this.#keep(slotId, sequence);
    return sequence;
  }

  /**
   * Runs an update that stores a map, and rewrites the cached copy. It drops the copy when another
   * change came in between, because nobody here knows which was last, and when the update failed,
   * because it may be committed all the same.
   *
   * @param store stores the map, and notifies the other replicas in the name of `updateId`. Resolves
   * with what is stored.
   */
  async rewrite<Slot extends { deliverySequence: JsonValue }>(
    slotId: number,
    store: (updateId: string) => Promise<Slot>,
  ): Promise<Slot> {
    const changesBefore = this.#changes;
    const updateId = randomUUID();
    // While notifications are lost, this one would stay in the set for ever.
    if (!this.#bypassed) this.#ownUpdates.add(updateId);
    try {
      const slot = await store(updateId);
      const isLast = this.#changes === changesBefore;
      this.#drop(slotId);
      if (isLast && isSequenceMap(slot.deliverySequence)) this.#keep(slotId, slot.deliverySequence);
      return slot;
    } catch (error) {
      this.#ownUpdates.delete(updateId);
      this.#drop(slotId);
      throw error;
    }
  }

  /** Drops the copy that a notification names, unless it is of an update of this process. */
  onNotification(payload: string): void {
    const notification: unknown = JSON.parse(payload);
    if (typeof notification !== 'object' || notification === null || !('slotId' in notification)) {
      throw new Error('a notification of a sequence names no slot');
    }
    const updateId = 'updateId' in notification ? String(notification.updateId) : undefined;
    const isOwn = updateId !== undefined && this.#ownUpdates.delete(updateId);
    if (!isOwn) this.#drop(Number(notification.slotId));
  }

  /** Forgets everything and keeps nothing, while notifications of other replicas are lost. */
  bypass(): void {
    this.#bypassed = true;
    this.#changes += 1;
    this.#ownUpdates.clear();
    this.#cache.flushAll();
  }

  /** Keeps copies again after `bypass`. A read that began before may have missed a change. */
  resume(): void {
    this.#changes += 1;
    this.#bypassed = false;
  }

  /** Registers the metrics of the cache. */
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

  #drop(slotId: number): void {
    this.#changes += 1;
    this.#cache.del(slotId);
  }

  #keep(slotId: number, sequence: SequenceMap): void {
    if (this.#bypassed) return;
    try {
      this.#cache.set(slotId, sequence);
    } catch {
      // A full cache refuses new entries.
      this.#cache.del(slotId);
    }
  }
}
