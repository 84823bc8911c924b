import { randomUUID } from 'node:crypto';
import NodeCache from 'node-cache';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Metrics } from '../../../shared/telemetry/metrics.ts';
import { isSequenceMap } from './delivery-sequence.ts';
import { type Sequence, SequenceResponse } from './sequence-response.ts';

const lifetimeSeconds = 3600;
const defaultMaxBytes = 64 * 1024 * 1024;
/** The memory of a kept response, in addition to its encoded form. */
const entryBytes = 600;
/** If refreshes report more slots than this, responses of running reads and updates are not kept. */
const maxTold = 1_000;
/** The largest share of the cache that a single response may take. */
const maxShare = 1 / 8;

/** The channel on which a replica tells the others which sequence it changed, in the transaction of the update. */
export const sequenceChannel = 'delivery_sequence';

/**
 * Caches this process's delivery sequences as responses, for 3600 s each (spec 4.1). Only maps of user ids to
 * integers are valid copies. A full cache evicts its oldest copies. node-cache does not fail for numeric keys, so
 * there are no failures to ignore.
 */
export class SequenceCache {
  readonly #cache: NodeCache;
  readonly #maxBytes: number;
  /** The kept responses by slot with their sizes, oldest first. */
  readonly #kept = new Map<number, { readonly response: SequenceResponse; readonly bytes: number }>();
  #bytes = 0;
  /** Counts changes by any replica, so that a read or update can detect one that came in between. */
  #changes = 0;
  #bypassed = false;
  /** The number of running reads and updates, and the etags by slot that refreshes have reported meanwhile. */
  #underWay = 0;
  readonly #told = new Map<number, string>();
  /** This process's updates whose notifications have not arrived yet. They will be ignored. */
  readonly #ownUpdates = new Set<string>();

  /** @param maxBytes the maximum memory of all copies together. */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
    this.#cache = new NodeCache({ stdTTL: lifetimeSeconds, useClones: false });
    this.#cache.on('del', (slotId: number | string) => this.#forget(Number(slotId)));
  }

  /**
   * Returns the cached copy, or loads the sequence and keeps it if it is a map. Keeps nothing if another change came in
   * between, which the load may have missed.
   */
  async read(slotId: number, load: () => Promise<Sequence>): Promise<SequenceResponse> {
    const cached = this.#cache.get<SequenceResponse>(slotId);
    if (cached !== undefined) return cached;
    const changesBefore = this.#changes;
    this.#underWay += 1;
    try {
      const sequence = await load();
      const response = this.#respond(slotId, sequence);
      if (this.#isLast(slotId, sequence, changesBefore)) this.#keep(response);
      return response;
    } finally {
      this.#leave();
    }
  }

  /**
   * Runs an update that stores a map, and rewrites the cached copy once it is committed. Drops the copy
   * instead if another change came in between, because their order is unknown, and if the update failed,
   * because it may still be committed.
   *
   * @param store stores the map and notifies the other replicas with `updateId`. Resolves with the stored sequence.
   */
  async rewrite<Slot extends Sequence>(
    slotId: number,
    call: Pick<CallContext, 'afterWrite'>,
    store: (updateId: string) => Promise<Slot>,
  ): Promise<Slot> {
    const changesBefore = this.#changes;
    const updateId = randomUUID();
    // While notifications are lost, the id would stay in the set for ever.
    if (!this.#bypassed) this.#ownUpdates.add(updateId);
    this.#underWay += 1;
    const end = (slot: Slot | undefined) => {
      const isLast = slot !== undefined && this.#isLast(slotId, slot, changesBefore);
      this.drop(slotId);
      if (slot === undefined) this.#ownUpdates.delete(updateId);
      else if (isLast) this.#keep(this.#respond(slotId, slot));
      this.#leave();
    };
    try {
      const slot = await store(updateId);
      await call.afterWrite((isCommitted) => end(isCommitted ? slot : undefined));
      return slot;
    } catch (error) {
      end(undefined);
      throw error;
    }
  }

  /** Drops a slot's copy, because its sequence or etag may be outdated. */
  drop(slotId: number): void {
    this.#changes += 1;
    this.#cache.del(slotId);
  }

  /** Drops the copy that a notification names, unless the update was this process's own. */
  onNotification(payload: string): void {
    const notification: unknown = JSON.parse(payload);
    if (typeof notification !== 'object' || notification === null || !('slotId' in notification)) {
      throw new Error('a notification of a sequence names no slot');
    }
    const updateId = 'updateId' in notification ? String(notification.updateId) : undefined;
    const isOwn = updateId !== undefined && this.#ownUpdates.delete(updateId);
    if (!isOwn) this.drop(Number(notification.slotId));
  }

  /**
   * Handles a store refresh's notification: drops copies whose etag differs, and keeps running reads
   * from caching such copies.
   */
  onSlotsWritten(payload: string): void {
    const etags: Readonly<Record<string, string>> = JSON.parse(payload);
    for (const [id, etag] of Object.entries(etags)) {
      const kept = this.#kept.get(Number(id));
      if (kept === undefined && this.#underWay > 0) this.#told.set(Number(id), etag);
      if (kept !== undefined && kept.response.etag !== etag) this.drop(Number(id));
    }
    if (this.#told.size <= maxTold) return;
    this.#told.clear();
    this.#changes += 1;
  }

  /** Clears the cache and disables it while notifications of other replicas are lost. */
  bypass(): void {
    this.#bypassed = true;
    this.#changes += 1;
    this.#ownUpdates.clear();
    this.#cache.flushAll();
    this.#kept.clear();
    this.#bytes = 0;
  }

  /** Enables the cache again. A read that began before may have missed a change, so it keeps nothing. */
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
    metrics.gauge({ name: 'delivery_sequence_cache_bytes', help: 'The memory that they take.' }, () => this.#bytes);
    metrics.gauge(
      { name: 'delivery_sequence_cache_bypassed', help: '1 while changes by other replicas cannot be heard.' },
      () => Number(this.#bypassed),
    );
  }

  close(): void {
    this.#cache.close();
  }

  /** Whether a sequence is a map and, to this process's knowledge, the latest. */
  #isLast(slotId: number, { deliverySequence, etag }: Sequence, changesBefore: number): boolean {
    const told = this.#told.get(slotId) ?? etag;
    return isSequenceMap(deliverySequence) && this.#changes === changesBefore && told === etag;
  }

  #leave(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#told.clear();
  }

  #respond(slotId: number, sequence: Sequence): SequenceResponse {
    return new SequenceResponse(slotId, sequence, (response) => {
      // A response outside the cache may still be encoded, which does not change the cache's size.
      if (this.#kept.get(slotId)?.response === response) this.#weigh(response);
    });
  }

  #keep(response: SequenceResponse): void {
    if (this.#bypassed) return;
    // Of two concurrent reads, the second one replaces the copy of the first.
    this.#cache.del(response.slotId);
    this.#cache.set(response.slotId, response);
    this.#weigh(response);
  }

  /**
   * Updates the size of a kept response, and evicts it if it is too large, or else the oldest
   * while the cache is too full.
   */
  #weigh(response: SequenceResponse): void {
    const bytes = response.bytes + entryBytes;
    this.#bytes += bytes - (this.#kept.get(response.slotId)?.bytes ?? 0);
    this.#kept.set(response.slotId, { response, bytes });
    if (bytes > this.#maxBytes * maxShare) this.#cache.del(response.slotId);
    for (const slotId of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#cache.del(slotId);
    }
  }

  #forget(slotId: number): void {
    this.#bytes -= this.#kept.get(slotId)?.bytes ?? 0;
    this.#kept.delete(slotId);
  }
}
