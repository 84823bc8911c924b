import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { SlotDetail } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { fromTimeInput, timeInput } from '../../ui/time-input.ts';

/** The times and groups of a slot, as a form holds them. */
export interface SlotDraft {
  /** As a field for times holds it. */
  readonly deliveryTime: string;
  readonly freezeTime: string;
  readonly groupIds: readonly number[];
}

/** What a form shows of a slot at first; `days` later, for a slot that is made like it. */
export function draftOf({ deliveryTime, freezeTime, groupIds }: SlotDetail, days = 0): SlotDraft {
  return {
    deliveryTime: deliveryTime === undefined ? '' : timeInput(shift(timestampDate(deliveryTime), days)),
    freezeTime: freezeTime === undefined ? '' : timeInput(shift(timestampDate(freezeTime), days)),
    groupIds,
  };
}

/** What a new slot begins with: tomorrow at ten, orders until six. */
export function newDraft(now: Date): SlotDraft {
  const tomorrow = (hour: number) => timeInput(new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, hour));
  return { deliveryTime: tomorrow(10), freezeTime: tomorrow(6), groupIds: [] };
}

/** All products of a slot, with those that the catalogue does not have. */
export function productsOf({ productSlots }: SlotDetail): Option[] {
  return productSlots.map(({ productId: id, product }) => ({ id, name: product?.name ?? `Product ${id}` }));
}

/** A request of UpdateSlot that changes nothing: it replaces times, groups and state, so they are sent as they are. */
export function unchanged(slot: SlotDetail) {
  return { id: slot.id, isActive: slot.isActive, etag: slot.etag, ...inputOf(draftOf(slot), slot) };
}

/** A draft as CreateSlot and UpdateSlot take it. Times of `was` that nobody has changed keep their seconds. */
export function inputOf({ deliveryTime, freezeTime, groupIds }: SlotDraft, was?: SlotDetail) {
  return {
    deliveryTime: fromTimeInput(deliveryTime, was?.deliveryTime),
    freezeTime: fromTimeInput(freezeTime, was?.freezeTime),
    groupIds: [...groupIds],
  };
}

// The clock shows the same time, also when the clocks change in between.
function shift(date: Date, days: number): Date {
  const shifted = new Date(date);
  shifted.setDate(date.getDate() + days);
  return shifted;
}
