import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { SlotDetail } from '#gen/slot/v1/slot_service_pb';
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
import { words } from '../../words.ts';

const text = words.slot.concerns;

/** A slot's times, capacity and groups in a form. Times are texts of time fields. */
export interface SlotDraft {
  readonly deliveryTime: string;
  readonly freezeTime: string;
  readonly groups: readonly { readonly id: number }[];
  /** In units; empty for a slot that is not counted. */
  readonly capacity: string;
  /** In minutes; empty for a window that is not told. */
  readonly windowMinutes: string;
}

/** Returns the draft with which the form of a slot begins, some days later at the same times of day. */
export function draftOf(slot: SlotDetail, days = 0): SlotDraft {
  const { deliveryTime, freezeTime, groupIds, capacity, windowMinutes } = slot;
  const later = (text: string) => (days === 0 ? text : `${shiftDay(text.slice(0, 10), days)}${text.slice(10, 16)}`);
  return {
    deliveryTime: deliveryTime === undefined ? '' : later(timeInput(timestampDate(deliveryTime))),
    freezeTime: freezeTime === undefined ? '' : later(timeInput(timestampDate(freezeTime))),
    groups: groupIds.map((id) => ({ id })),
    capacity: String(capacity ?? ''),
    windowMinutes: String(windowMinutes ?? ''),
  };
}

/** Returns the draft of a new slot at a time such as 2026-11-23T10:00: orders close four hours before. */
export function newDraft(deliveryTime: string): SlotDraft {
  const freezeTime = moveTime(deliveryTime, '2000-01-01T04:00', '2000-01-01T00:00');
  return { deliveryTime, freezeTime, groups: [], capacity: '', windowMinutes: '' };
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
export function inputOf({ deliveryTime, freezeTime, groups, capacity, windowMinutes }: SlotDraft, was?: SlotDetail) {
  return {
    deliveryTime: fromTimeInput(deliveryTime, was?.deliveryTime),
    freezeTime: fromTimeInput(freezeTime, was?.freezeTime),
    groupIds: groups.map(({ id }) => id),
    // 0 stands for none.
    capacity: Number(capacity),
    windowMinutes: Number(windowMinutes),
  };
}

/** Returns what says why a text is no number from 1 to `most`, nor empty. */
export function countProblem(most: number): (typed: string) => string | undefined {
  return (typed) =>
    /^\d*$/.test(typed.trim()) && (typed.trim() === '' || (Number(typed) > 0 && Number(typed) <= most))
      ? undefined
      : words.slot.hints.noCount(most.toLocaleString('en'));
}

/** Who has booked a slot, and how much of it. */
export interface Booked {
  readonly customers: number;
  /** Held or booked. */
  readonly units: number;
}

/** Says whom a change of a slot's times or capacity concerns. */
export function bookedConcerns(draft: SlotDraft, was: SlotDraft, { customers, units }: Booked): string[] {
  const isMoved = draft.deliveryTime !== was.deliveryTime || draft.windowMinutes !== was.windowMinutes;
  const isTooSmall = draft.capacity !== was.capacity && Number(draft.capacity) > 0 && Number(draft.capacity) < units;
  return [...(isMoved && customers > 0 ? [text.moved(customers)] : []), ...(isTooSmall ? [text.tooSmall(units)] : [])];
}

/** Says that nobody can order in an active slot. */
export function emptyConcerns(products: readonly unknown[], groups: readonly unknown[]): string[] {
  if (products.length + groups.length > 0) return [];
  return [text.nothing];
}

/** Returns what looks like a mistake in the times of a slot, at a time in Unix ms. Times of `was` are not questioned. */
export function concernsOf(draft: SlotDraft, now: number, was?: SlotDraft): string[] {
  const [delivery, freeze] = [readTimeInput(draft.deliveryTime), readTimeInput(draft.freezeTime)];
  if (delivery === undefined || freeze === undefined) return [];
  const isNew = { delivery: draft.deliveryTime !== was?.deliveryTime, freeze: draft.freezeTime !== was?.freezeTime };
  const concerns: string[] = [];
  if (isNew.delivery && delivery.getTime() < now) concerns.push(text.past(formatDate(delivery)));
  if ((isNew.delivery || isNew.freeze) && freeze > delivery) {
    concerns.push(text.closesLate(formatDate(freeze)));
  } else if (isNew.freeze && delivery.getTime() >= now && freeze.getTime() < now) {
    concerns.push(text.closed(formatDate(freeze)));
  }
  return [
    ...concerns,
    ...(isNew.delivery ? describeSkipped(text.delivery, draft.deliveryTime) : []),
    ...(isNew.freeze ? describeSkipped(text.freeze, draft.freezeTime) : []),
  ];
}
