import { LRUCache } from 'lru-cache';
import { commonErrors, fail } from '../../errors/errors.ts';
import type { Interceptor } from '../implementation.ts';

const hourMs = 3_600_000;
/** What a row takes with its indexes and its place in the audit trail. */
const rowBytes = 128;
/** What an id takes in a list that is stored whole: there, and in the audit trail before and after. */
const idBytes = 16;
/** What a mutation that writes takes at least: a record, its audit entry and the stored answer. */
const leastBytes = 1024;
/** A caller owes one hour's quota at most. If it has not written for two hours, it has all of its quota again. */
const buckets = { max: 100_000, ttl: 2 * hourMs };

/** Limits how much a caller may write through this replica (design 8): a token bucket of bytes for each `sub`. */
export class StorageQuota {
  readonly #capacity: number;
  readonly #buckets = new LRUCache<string, { left: number; atMs: number }>(buckets);

  /** @param mibPerHour the capacity of a bucket, which an hour fills. */
  constructor(mibPerHour: number) {
    this.#capacity = mibPerHour * 1024 ** 2;
  }

  /** Throws RESOURCE_EXHAUSTED STORAGE_QUOTA if a caller has nothing left. */
  require(subject: string): void {
    const left = this.#leftOf(subject);
    if (left <= 0)
      throw fail(commonErrors.storageQuota, { retryAfterMs: Math.ceil((-left / this.#capacity) * hourMs) + 1 });
  }

  /** Charges a caller, also for more than it has left. */
  charge(subject: string, bytes: number): void {
    const left = Math.max(this.#leftOf(subject) - bytes, -this.#capacity);
    this.#buckets.set(subject, { left, atMs: performance.now() });
  }

  #leftOf(subject: string): number {
    const { left, atMs } = this.#buckets.get(subject) ?? { left: this.#capacity, atMs: 0 };
    return Math.min(this.#capacity, left + ((performance.now() - atMs) / hourMs) * this.#capacity);
  }
}

/**
 * Charges mutations: each for its request, and for the rows that its procedure announces; one that may have written,
 * 1 KiB at least.
 */
export function storageQuota(quota: StorageQuota): Interceptor {
  return function storageQuota(_rpc, next) {
    return async (call) => {
      const { subject } = call.identity;
      const charge = (bytes: number) => quota.charge(subject, bytes);
      const chargeRest = () => charge(Math.max(leastBytes - call.requestBytes, 0));
      quota.require(subject);
      charge(call.requestBytes);
      call.chargeRows = (rows, listedIds = 0) => charge(rowBytes * rows + idBytes * listedIds);
      try {
        const response = await next(call);
        if (call.refusal === undefined && !call.isReplayed) chargeRest();
        return response;
      } catch (error) {
        // Given up, it may still have committed.
        if (call.signal.aborted) chargeRest();
        throw error;
      }
    };
  };
}
