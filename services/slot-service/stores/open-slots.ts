import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { closesAtMs, type StoredSlot } from './content.ts';

// A slot is listed under each of its products, with all its product ids. This limit is 15 MB in binary form.
const maxShown = 5_000_000;

/** Converts stored slots to `OpenSlot`s. */
export const toOpenSlots = (slots: readonly StoredSlot[]) =>
  mapped(slots, ({ id, deliveryMs, freezeMs, productIds }) => {
    return { id, deliveryTime: deliveryMs, freezeTime: freezeMs, productIds, isCapacityFull: false };
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
