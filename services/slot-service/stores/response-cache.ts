import type { DescMessage } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import type { DatabaseClock } from '../../../shared/clock/clock.ts';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { type Answer, mapped } from '../../../shared/rpc/answers/answer.ts';
import { AnswerResponse } from '../../../shared/rpc/answers/response.ts';
import { toCounts } from '../slots/slot.ts';
import { closesAtMs, type StoreContent, type StoredSlot } from './content.ts';

const maxKeyLength = 200;

/**
 * Caches responses of the stores for as long as they are valid: until a new version is loaded, or the
 * first of their slots closes.
 */
export class ResponseCache<Output extends DescMessage> {
  readonly #responses: LRUCache<string, { response: AnswerResponse<Output>; untilMs: number }>;
  readonly #schema: Output;
  readonly #clock: DatabaseClock;
  #content: StoreContent | undefined;

  /** @param maxShown the maximum number of slots and product ids in all kept responses together. */
  constructor(schema: Output, clock: DatabaseClock, maxShown: number) {
    this.#schema = schema;
    this.#clock = clock;
    this.#responses = new LRUCache({ maxSize: maxShown });
  }

  /** Returns the response kept under `key`, or builds a new one. Throws the errors of `build`. */
  get(content: StoreContent, key: string, build: (open: OpenSlots) => Answer<Output>): AnswerResponse<Output> {
    if (content !== this.#content) this.#responses.clear();
    this.#content = content;
    const nowMs = this.#clock.now();
    const kept = this.#responses.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.response;
    const open = new OpenSlots(nowMs);
    const response = new AnswerResponse(this.#schema, build(open));
    if (key.length > maxKeyLength) return response;
    this.#responses.set(key, { response, untilMs: open.untilMs }, { size: 1 + open.size });
    return response;
  }
}

// A slot is listed under each of its products, with all its product ids. This limit is 15 MB in binary form.
const maxShown = 5_000_000;

/** Converts stored slots to `OpenSlot`s. */
export const toOpenSlots = (slots: readonly StoredSlot[]) =>
  mapped(slots, (slot) => {
    const { id, deliveryMs, freezeMs, productIds } = slot;
    return { id, deliveryTime: deliveryMs, freezeTime: freezeMs, productIds, isCapacityFull: false, ...toCounts(slot) };
  });

/** Collects the slots of one answer that are open at a moment, and counts them. */
export class OpenSlots {
  readonly #nowMs: number;
  #size = 0;
  #untilMs = Number.POSITIVE_INFINITY;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** The number of slots and product ids shown so far. */
  get size(): number {
    return this.#size;
  }

  /** The time when the first of these slots closes, in epoch milliseconds. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /**
   * Adds those of the slots that are open to the answer, and returns them. Slots close by time, without a refresh.
   *
   * @throws RESOURCE_EXHAUSTED if the answer shows more than 5,000,000 slots and product ids.
   */
  among(slots: readonly StoredSlot[]): StoredSlot[] {
    const open = slots.filter((slot) => closesAtMs(slot) > this.#nowMs);
    for (const slot of open) {
      this.#size += 1 + slot.productIds.length;
      this.#untilMs = Math.min(this.#untilMs, closesAtMs(slot));
    }
    if (this.#size > maxShown) throw fail(commonErrors.answerTooLarge);
    return open;
  }
}
