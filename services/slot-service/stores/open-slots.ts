import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { closesAtMs, type StoredSlot } from './content.ts';

// A slot is in the list of each of its products, with all its product ids: 15 MB of the binary form.
const maxShown = 5_000_000;

/** The slots that are open at a moment and shown in one answer, counted while they are gathered. */
export class OpenSlots {
  readonly #nowMs: number;
  #size = 0;
  #untilMs = Number.POSITIVE_INFINITY;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** How many slots and product ids are shown. */
  get size(): number {
    return this.#size;
  }

  /** When the first of them closes. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /**
   * Adds the open ones of these slots to the answer, and returns them. Slots close without a refresh.
   *
   * @throws RESOURCE_EXHAUSTED when the answer shows more than 5,000,000 slots and product ids.
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
