import { LRUCache } from 'lru-cache';
import { commonErrors, fail } from '../../errors/errors.ts';
import type { Interceptor } from '../implementation.ts';

const hourMs = 3_600_000;
/** What a row takes with its indexes and its place in the audit trail. */
const rowBytes = 128;
/** What a mutation takes at least: a record, its audit entry and the stored answer. */
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

  /**
   * Charges a caller before it writes, whatever becomes of the write. The last charge may be larger than what is left.
   * Throws RESOURCE_EXHAUSTED STORAGE_QUOTA if nothing is left, unless it is for more of a call that was charged already.
   */
  charge(subject: string, bytes: number, isMore = false): void {
    const nowMs = performance.now();
    const { left: before, atMs } = this.#buckets.get(subject) ?? { left: this.#capacity, atMs: nowMs };
    const left = Math.min(this.#capacity, before + ((nowMs - atMs) / hourMs) * this.#capacity);
    if (left <= 0 && !isMore)
      throw fail(commonErrors.storageQuota, { retryAfterMs: Math.ceil((-left / this.#capacity) * hourMs) + 1 });
    this.#buckets.set(subject, { left: Math.max(left - bytes, -this.#capacity), atMs: nowMs });
  }
}

/** Charges mutations: each for its request, 1 KiB at least, and for the rows that its procedure announces. */
export function storageQuota(quota: StorageQuota): Interceptor {
  return function storageQuota(_rpc, next) {
    return (call) => {
      const { subject } = call.identity;
      call.chargeRows = (rows) => quota.charge(subject, rowBytes * rows, true);
      quota.charge(subject, Math.max(leastBytes, call.requestBytes));
      return next(call);
    };
  };
}
