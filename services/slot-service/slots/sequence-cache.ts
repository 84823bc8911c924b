import { randomUUID } from 'node:crypto';
import type { JsonValue } from '@bufbuild/protobuf';
import NodeCache from 'node-cache';
import { GetDeliverySequenceResponseSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { AnswerResponse, EncodedResponse, type RpcResponse } from '../../../shared/rpc/answers/response.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import type { Metrics } from '../../../shared/telemetry/metrics.ts';
import { isSequenceMap } from './delivery-sequence.ts';

const lifetimeSeconds = 3600;
const defaultMaxBytes = 64 * 1024 * 1024;
/** The memory of a copy, in addition to its encoded forms. */
const entryBytes = 600;
/** The largest share of the cache that a single copy may take. */
const maxShare = 1 / 4;

/** The channel on which a replica tells the others which sequence it changed, in the transaction of the update. */
export const sequenceChannel = 'delivery_sequence';

/** A slot's stored sequence and etag. */
export interface Sequence {
  readonly deliverySequence: JsonValue;
  readonly etag: string;
}

const schema = GetDeliverySequenceResponseSchema;
type SequenceResponse = RpcResponse<typeof schema>;

/**
 * Caches this process's delivery sequences as encoded responses, for 3600 s each (spec 4.1). Only maps of user ids to
 * integers are valid copies. A full cache evicts its oldest copies. node-cache does not fail for numeric keys, so
 * there are no failures to ignore.
 *
 * The etag of a copy may be outdated. A write that is given it is refused, and drops the copy.
 */
export class SequenceCache {
  readonly #cache = new NodeCache({ stdTTL: lifetimeSeconds, useClones: false });
  readonly #maxBytes: number;
  /** The memory of each copy by slot, oldest first. */
  readonly #sizes = new Map<number, number>();
  #bytes = 0;
  /** Counts changes by any replica, so that a read or update can detect one that came in between. */
  #changes = 0;
  #bypassed = false;
  /** This process's updates whose notifications have not arrived yet. They will be ignored. */
  readonly #ownUpdates = new Set<string>();

  /** @param maxBytes the maximum memory of all copies together. */
  constructor(maxBytes = defaultMaxBytes) {
    this.#maxBytes = maxBytes;
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
    return this.#respond(slotId, await load(), changesBefore);
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
    const failed = () => {
      this.drop(slotId);
      this.#ownUpdates.delete(updateId);
    };
    try {
      const slot = await store(updateId);
      await call.afterWrite((isCommitted) => {
        if (!isCommitted) return failed();
        const isLast = this.#changes === changesBefore;
        this.drop(slotId);
        if (isLast) this.#respond(slotId, slot, this.#changes);
      });
      return slot;
    } catch (error) {
      failed();
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

  /** Clears the cache and disables it while notifications of other replicas are lost. */
  bypass(): void {
    this.#bypassed = true;
    this.#changes += 1;
    this.#ownUpdates.clear();
    this.#cache.flushAll();
    this.#sizes.clear();
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
    metrics.counter('delivery_sequence_cache_hits_total', 'Reads that the cache served.', () => read().hits);
    metrics.counter('delivery_sequence_cache_misses_total', 'Reads that it did not.', () => read().misses);
    metrics.gauge('delivery_sequence_cache_entries', 'Delivery sequences in the cache.', () => read().keys);
    metrics.gauge('delivery_sequence_cache_bytes', 'The memory that they take.', () => this.#bytes);
    metrics.gauge('delivery_sequence_cache_bypassed', '1 while changes by other replicas cannot be heard.', () =>
      Number(this.#bypassed),
    );
  }

  close(): void {
    this.#cache.close();
  }

  /** Returns the response, and keeps it if it is a map and nothing has changed since. */
  #respond(slotId: number, { deliverySequence, etag }: Sequence, changesBefore: number): SequenceResponse {
    const answer = { deliverySequence, etag };
    const isLast = this.#changes === changesBefore && !this.#bypassed;
    if (!isLast || !isSequenceMap(deliverySequence)) return new AnswerResponse(schema, answer);
    const response = EncodedResponse.inBothForms(schema, answer);
    const bytes = response.length + entryBytes;
    if (bytes > this.#maxBytes * maxShare) return response;
    // Of two concurrent reads, the second one replaces the copy of the first.
    this.#cache.del(slotId);
    this.#cache.set(slotId, response);
    this.#sizes.set(slotId, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#sizes.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#cache.del(oldest);
    }
    return response;
  }

  #forget(slotId: number): void {
    this.#bytes -= this.#sizes.get(slotId) ?? 0;
    this.#sizes.delete(slotId);
  }
}
