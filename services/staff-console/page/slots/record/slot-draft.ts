import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { SlotDetail } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { fromTimeInput, timeInput } from '../../ui/time-input.ts';

/** The times and groups of a slot in a form. */
export interface SlotDraft {
  /** In the format of a time field. */
  readonly deliveryTime: string;
  readonly freezeTime: string;
  readonly groupIds: readonly number[];
}

/** Returns the draft with which a slot's form begins. For a copy of the slot, its times are `days` later. */
export function draftOf({ deliveryTime, freezeTime, groupIds }: SlotDetail, days = 0): SlotDraft {
  return {
    deliveryTime: deliveryTime === undefined ? '' : timeInput(shift(timestampDate(deliveryTime), days)),
    freezeTime: freezeTime === undefined ? '' : timeInput(shift(timestampDate(freezeTime), days)),
    groupIds,
  };
}

/** Returns the draft of a new slot: delivery tomorrow at ten, orders until six. */
export function newDraft(now: Date): SlotDraft {
  const tomorrow = (hour: number) => timeInput(new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, hour));
  return { deliveryTime: tomorrow(10), freezeTime: tomorrow(6), groupIds: [] };
}

/** Returns all products of a slot, including those that the catalogue lacks. */
export function productsOf({ productSlots }: SlotDetail): Option[] {
  return productSlots.map(({ productId: id, product }) => ({ id, name: product?.name ?? `Product ${id}` }));
}

/** Returns an UpdateSlot that changes nothing. It replaces times, groups and state, so it must repeat them. */
export function unchanged(slot: SlotDetail) {
  return { id: slot.id, isActive: slot.isActive, etag: slot.etag, ...inputOf(draftOf(slot), slot) };
}

/** Converts a draft for CreateSlot and UpdateSlot. Unchanged times of `was` keep their seconds. */
export function inputOf({ deliveryTime, freezeTime, groupIds }: SlotDraft, was?: SlotDetail) {
  return {
    deliveryTime: fromTimeInput(deliveryTime, was?.deliveryTime),
    freezeTime: fromTimeInput(freezeTime, was?.freezeTime),
    groupIds: [...groupIds],
  };
}

// Keeps the time of day, even if the clocks change in between.
function shift(date: Date, days: number): Date {
  const shifted = new Date(date);
  shifted.setDate(date.getDate() + days);
  return shifted;
}
