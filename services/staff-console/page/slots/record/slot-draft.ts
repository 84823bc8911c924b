import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { SlotDetail } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { formatDate } from '../../business/time.tsx';
import {
  describeSkipped,
  fromTimeInput,
  moveTime,
  readTimeInput,
  shiftDay,
  timeInput,
} from '../../business/time-input.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { isolate } from '../../ui/text.ts';

/** A slot's times and groups in a form. Times are texts of time fields. */
export interface SlotDraft {
  readonly deliveryTime: string;
  readonly freezeTime: string;
  readonly groups: readonly { readonly id: number }[];
}

/** Returns the draft with which the form of a slot begins, some days later at the same times of day. */
export function draftOf({ deliveryTime, freezeTime, groupIds }: SlotDetail, days = 0): SlotDraft {
  const later = (text: string) => (days === 0 ? text : `${shiftDay(text.slice(0, 10), days)}${text.slice(10, 16)}`);
  return {
    deliveryTime: deliveryTime === undefined ? '' : later(timeInput(timestampDate(deliveryTime))),
    freezeTime: freezeTime === undefined ? '' : later(timeInput(timestampDate(freezeTime))),
    groups: groupIds.map((id) => ({ id })),
  };
}

/** Returns the draft of a new slot at a time such as 2026-11-23T10:00: orders close four hours before. */
export function newDraft(deliveryTime: string): SlotDraft {
  return { deliveryTime, freezeTime: moveTime(deliveryTime, '2000-01-01T04:00', '2000-01-01T00:00'), groups: [] };
}

/** Returns all products of a slot, including those that the catalogue lacks. */
export function productsOf({ productSlots }: SlotDetail): Option[] {
  return productSlots.map(({ productId: id, product }) => ({
    id,
    name: product === undefined ? `Product ${id}` : isolate(product.name),
  }));
}

/** Returns an UpdateSlot that changes nothing. It replaces times, groups and state, so it must repeat them. */
export function unchanged(slot: SlotDetail) {
  return { id: slot.id, isActive: slot.isActive, etag: slot.etag, ...inputOf(draftOf(slot), slot) };
}

/** Converts a draft for CreateSlot and UpdateSlot. Unchanged times of `was` keep their seconds. */
export function inputOf({ deliveryTime, freezeTime, groups }: SlotDraft, was?: SlotDetail) {
  return {
    deliveryTime: fromTimeInput(deliveryTime, was?.deliveryTime),
    freezeTime: fromTimeInput(freezeTime, was?.freezeTime),
    groupIds: groups.map(({ id }) => id),
  };
}

/** Says that nobody can order in an active slot. */
export function emptyConcerns(products: readonly unknown[], groups: readonly unknown[]): string[] {
  if (products.length + groups.length > 0) return [];
  return ['Nobody can order anything in this slot: it has neither products nor groups.'];
}

/** Returns what looks like a mistake in the times of a slot, at a time in Unix ms. Times of `was` are not questioned. */
export function concernsOf(draft: SlotDraft, now: number, was?: SlotDraft): string[] {
  const [delivery, freeze] = [readTimeInput(draft.deliveryTime), readTimeInput(draft.freezeTime)];
  if (delivery === undefined || freeze === undefined) return [];
  const isNew = { delivery: draft.deliveryTime !== was?.deliveryTime, freeze: draft.freezeTime !== was?.freezeTime };
  const concerns: string[] = [];
  if (isNew.delivery && delivery.getTime() < now)
    concerns.push(`The delivery is in the past: ${formatDate(delivery)}.`);
  if ((isNew.delivery || isNew.freeze) && freeze > delivery) {
    concerns.push(`Orders close after the delivery: ${formatDate(freeze)}.`);
  } else if (isNew.freeze && delivery.getTime() >= now && freeze.getTime() < now) {
    concerns.push(`Orders have closed already: ${formatDate(freeze)}. Nobody can order for this slot.`);
  }
  return [
    ...concerns,
    ...(isNew.delivery ? describeSkipped('The delivery time', draft.deliveryTime) : []),
    ...(isNew.freeze ? describeSkipped('The end of orders', draft.freezeTime) : []),
  ];
}
