import { randomUUID } from 'node:crypto';
import NodeCache from 'node-cache';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Metrics } from '../../../shared/telemetry/metrics.ts';
import { isSequenceMap } from './delivery-sequence.ts';
import { type Sequence, SequenceResponse } from './sequence-response.ts';

const lifetimeSeconds = 3600;
const defaultMaxBytes = 64 * 1024 * 1024;
/** What a kept response takes in memory, besides its encoded form. */
const entryBytes = 600;
/** With more slots that refreshes have told of, what is under way is not kept. */
const maxTold = 1_000;
/** A response may take this share of the cache. */
const maxShare = 1 / 8;

/** The channel on which a replica notifies the others, in the transaction of an update, of a sequence that it changed. */
export const sequenceChannel = 'delivery_sequence';

/**
 * The delivery sequences that this process keeps, for 3600 s each (spec 4.1), as responses. Only maps of
 * user ids to integers are valid copies. When the cache is full, the oldest copies go. node-cache never fails for keys
 * that are numbers, so that there is no failure to ignore.
 */
export class SequenceCache {
  readonly #cache: NodeCache;
  readonly #maxBytes: number;
  /** The kept responses by slot, with what each takes, the oldest first. */
  readonly #kept = new Map<number, { readonly response: SequenceResponse; readonly bytes: number }>();
  #bytes = 0;
  /** Counts the changes by anyone, so that a read or an update knows whether one came in between. */
  #changes = 0;
  #bypassed = false;
  /** How many reads and updates are under way, and the etags that refreshes have told of meanwhile, by slot. */
  #underWay = 0;
  readonly #told = new Map<number, string>();
  /** Updates of this process whose notifications are still to come, and to be ignored. */
  readonly #ownUpdates = new Set<string>();

  /** @param maxBytes how much memory all copies together may take. */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
    this.#cache = new NodeCache({ stdTTL: lifetimeSeconds, useClones: false });
    this.#cache.on('del', (slotId: number | string) => this.#forget(Number(slotId)));
  }

  /**
   * Gives the cached copy, or else loads the sequence, and keeps it when it is a map. It keeps nothing
   * when another change came in between, which the load may not have seen.
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
   * Runs an update that stores a map, and rewrites the cached copy once it is committed. It drops the copy when another
   * change came in between, because nobody here knows which was last, and when the update failed,
   * because it may be committed all the same.
   *
   * @param store stores the map, and notifies the other replicas in the name of `updateId`. Resolves
   * with what is stored.
   */
  async rewrite<Slot extends Sequence>(
    slotId: number,
    call: Pick<CallContext, 'afterWrite'>,
    store: (updateId: string) => Promise<Slot>,
  ): Promise<Slot> {
    const changesBefore = this.#changes;
    const updateId = randomUUID();
    // While notifications are lost, this one would stay in the set for ever.
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
      call.afterWrite((isCommitted) => end(isCommitted ? slot : undefined));
      return slot;
    } catch (error) {
      end(undefined);
      throw error;
    }
  }

  /** Drops the copy of a slot, whose sequence or etag may be an old one. */
  drop(slotId: number): void {
    this.#changes += 1;
    this.#cache.del(slotId);
  }

  /** Drops the copy that a notification names, unless it is of an update of this process. */
  onNotification(payload: string): void {
    const notification: unknown = JSON.parse(payload);
    if (typeof notification !== 'object' || notification === null || !('slotId' in notification)) {
      throw new Error('a notification of a sequence names no slot');
    }
    const updateId = 'updateId' in notification ? String(notification.updateId) : undefined;
    const isOwn = updateId !== undefined && this.#ownUpdates.delete(updateId);
    if (!isOwn) this.drop(Number(notification.slotId));
  }

  /** Drops the copies that have another etag than a notification of a store refresh says, and keeps none that comes with one. */
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

  /** Forgets everything and keeps nothing, while notifications of other replicas are lost. */
  bypass(): void {
    this.#bypassed = true;
    this.#changes += 1;
    this.#ownUpdates.clear();
    this.#cache.flushAll();
    this.#kept.clear();
    this.#bytes = 0;
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
    metrics.gauge({ name: 'delivery_sequence_cache_bytes', help: 'The memory that they take.' }, () => this.#bytes);
    metrics.gauge(
      { name: 'delivery_sequence_cache_bypassed', help: '1 while changes by other replicas cannot be heard.' },
      () => Number(this.#bypassed),
    );
  }

  close(): void {
    this.#cache.close();
  }

  /** Whether a map that was read or stored is the last one, as far as this process knows. */
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
      // A response that was not kept, or no longer is, may be sent all the same.
      if (this.#kept.get(slotId)?.response === response) this.#weigh(response);
    });
  }

  #keep(response: SequenceResponse): void {
    if (this.#bypassed) return;
    // Of two reads at once, the second one replaces what the first one kept.
    this.#cache.del(response.slotId);
    this.#cache.set(response.slotId, response);
    this.#weigh(response);
  }

  /** Counts what a kept response takes now, and drops what is too much: itself, or the oldest. */
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
