import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Transport } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { type PlannedSlot, SlotPlanService, SlotState } from '#gen/slot/v1/slot_plan_service_pb';
import type { SlotDetail } from '#gen/slot/v1/slot_service_pb';
import { formatDate } from '../../business/time.tsx';
import { describeSkipped, fromTimeInput, readTimeInput, shiftDay, timeInput } from '../../business/time-input.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { useDebounced } from '../../ui/pauses.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';

const text = words.slot.concerns;

/** The labels of a slot's fields in its forms. */
export const slotLabels = { ...words.fields, deliveryTime: words.slot.deliveryTime, groups: words.fields.groupIds };

/** A slot's times, capacity and groups in a form, as texts of its fields. */
export type SlotDraft = Readonly<ReturnType<typeof draftOf>>;

/** Returns the draft with which the form of a slot begins, some days later at the same times of day. */
export function draftOf({ deliveryTime, freezeTime, groupIds, capacity, windowMinutes }: SlotDetail, days = 0) {
  return {
    deliveryTime: inputLater(deliveryTime, days),
    freezeTime: inputLater(freezeTime, days),
    groups: groupIds.map((id) => ({ id })),
    capacity: String(capacity ?? ''),
    windowMinutes: String(windowMinutes ?? ''),
  };
}

/** Returns the text of a field for a time some days later; empty for none. */
export function inputLater(at: Timestamp | undefined, days: number): string {
  const input = at === undefined ? '' : timeInput(timestampDate(at));
  return days === 0 ? input : shiftDay(input.slice(0, 10), days) + input.slice(10, 16);
}

/** Returns all products of a slot, including those that the catalogue lacks. */
export function productsOf({ productSlots }: SlotDetail): Option[] {
  return productSlots.map(({ productId: id, product }) => ({
    id,
    name: product === undefined ? words.lookup.product(id) : isolate(product.name),
  }));
}

/** Returns an UpdateSlot that changes a slot to a draft. It replaces times, groups and state, so it must repeat them. */
export function updateOf(draft: SlotDraft, slot: SlotDetail) {
  return { id: slot.id, isActive: slot.isActive, etag: slot.etag, ...inputOf(draft, slot) };
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

/** Returns the plan of a form, unless its time is none yet. */
export function plansOf({ deliveryTime, groups }: SlotDraft, id = 0): Plan[] {
  const at = readTimeInput(deliveryTime)?.getTime();
  return at === undefined ? [] : [{ id, at, groupIds: groups.map((group) => group.id) }];
}

/** Says that nobody can order in an active slot. */
export function emptyConcerns(products: readonly unknown[], groups: readonly unknown[]): string[] {
  return products.length + groups.length > 0 ? [] : [text.nothing];
}

/** Returns what looks like a mistake in the times of a slot, at a time in Unix ms. Times of `was` are not questioned. */
export function concernsOf(draft: SlotDraft, now: number, was?: SlotDraft): string[] {
  const [delivery, freeze] = [readTimeInput(draft.deliveryTime), readTimeInput(draft.freezeTime)];
  if (delivery === undefined || freeze === undefined) return [];
  const isNewDelivery = draft.deliveryTime !== was?.deliveryTime;
  const isNewFreeze = draft.freezeTime !== was?.freezeTime;
  const isLate = (isNewDelivery || isNewFreeze) && freeze > delivery;
  const isClosed = !isLate && isNewFreeze && delivery.getTime() >= now && freeze.getTime() < now;
  return [
    ...(isNewDelivery && delivery.getTime() < now ? [text.past(formatDate(delivery))] : []),
    ...(isLate ? [text.closesLate(formatDate(freeze))] : []),
    ...(isClosed ? [text.closed(formatDate(freeze))] : []),
    ...(isNewDelivery ? describeSkipped(text.delivery, draft.deliveryTime) : []),
    ...(isNewFreeze ? describeSkipped(text.freeze, draft.freezeTime) : []),
  ];
}

/** A slot as it is about to be. */
export interface Plan {
  /** 0 for a new one. */
  readonly id: number;
  readonly groupIds: readonly number[];
  /** In Unix ms. */
  readonly at: number;
}

/** Returns the plan of a slot that stays where it is. */
export function planOf({ id, groupIds, deliveryTime }: Pick<PlannedSlot, 'id' | 'groupIds' | 'deliveryTime'>): Plan {
  return { id, groupIds, at: deliveryTime === undefined ? Number.NaN : timestampMs(deliveryTime) };
}

/** Finds the other active slots at the times of plans, with a group in common or, like the plan, none (design 12). */
export async function readTaken(transport: Transport, plans: readonly Plan[], signal: AbortSignal): Promise<Plan[]> {
  const times = plans.map(({ at }) => at).filter((at) => !Number.isNaN(at));
  if (times.length === 0) return [];
  const request = {
    deliveryFrom: new Date(Math.min(...times)).toISOString(),
    deliveryUntil: new Date(Math.max(...times) + 1).toISOString(),
    states: [SlotState.ACTIVE],
    limit: 1_000,
  };
  const others: Plan[] = [];
  const { listSlots } = SlotPlanService.method;
  let pageToken = '';
  do {
    const page = { ...request, pageToken };
    const { message } = await transport.unary(listSlots, signal, undefined, undefined, page, undefined);
    others.push(...message.slots.map(planOf));
    pageToken = message.nextPageToken;
  } while (pageToken !== '');
  const planned = new Set(plans.map(({ id }) => id));
  return others.filter((other) => !planned.has(other.id) && plans.some((plan) => isSamePlace(other, plan)));
}

function isSamePlace(one: Plan, other: Plan): boolean {
  if (one.at !== other.at) return false;
  return one.groupIds.length + other.groupIds.length === 0 || one.groupIds.some((id) => other.groupIds.includes(id));
}

/** Says which other slots take the times of plans, for a form's question. */
export function useTaken(plans: readonly Plan[]) {
  const transport = useTransport();
  const asked = JSON.stringify(plans);
  const isSettled = useDebounced(asked) === asked;
  const isAsked = plans.length > 0;
  const { data = [], isFetching } = useQuery({
    queryKey: ['taken', asked],
    queryFn: ({ signal }) => readTaken(transport, plans, signal),
    enabled: isAsked && isSettled,
  });
  const taken = data.map(({ id, at }) => words.slot.concerns.taken(id, formatDate(new Date(at))));
  return { taken: isAsked ? taken : [], isChecking: isAsked && (isFetching || !isSettled) };
}
