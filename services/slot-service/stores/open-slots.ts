import type { DescField } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { commonErrors, fail } from '../../../shared/errors/errors.ts';
import { OpenSlotSchema } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { type LongList, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { closesAtMs, type StoredSlot } from './content.ts';

// A slot is in the list of each of its products, with all its product ids: 15 MB of the binary form.
const maxShown = 5_000_000;

/** Slots as the `OpenSlot`s of a field. */
export function openSlotList(field: DescField, slots: readonly StoredSlot[]): LongList {
  return longList(
    field,
    slots,
    ({ id, deliveryMs, freezeMs, productIds }) => {
      const times = { deliveryTime: timestampFromMs(deliveryMs), freezeTime: timestampFromMs(freezeMs) };
      return longMessage(OpenSlotSchema, { id, ...times, productIds: [...productIds] });
    },
    ({ productIds }) => productIds.length / 100,
  );
}

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
