import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import {
  type PlannedSlot,
  SlotPlanService,
  SlotState,
} from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { formatDate } from '../../business/time.tsx';
import { readTimeInput } from '../../business/time-input.ts';
import { useDebounced } from '../../ui/use-debounced.ts';
import type { SlotDraft } from './slot-draft.ts';

/** A slot as it is about to be. */
export interface Plan {
  /** 0 for a new one. */
  readonly id: number;
  readonly groupIds: readonly number[];
  /** When it is delivered, in Unix ms. */
  readonly at: number;
}

/** Returns the plan of a form, unless its time is none yet. */
export function plansOf({ deliveryTime, groups }: SlotDraft, id = 0): Plan[] {
  const at = readTimeInput(deliveryTime)?.getTime();
  return at === undefined ? [] : [{ id, at, groupIds: groups.map((group) => group.id) }];
}

/** Returns the plan of a slot that stays where it is. */
export function planOf({ id, groupIds, deliveryTime }: Pick<PlannedSlot, 'id' | 'groupIds' | 'deliveryTime'>): Plan {
  return { id, groupIds, at: deliveryTime === undefined ? Number.NaN : timestampMs(deliveryTime) };
}

/**
 * Returns a function that finds which other slots take the times of plans, and says so: active ones of the same delivery
 * time with a group in common or, like the plan, without groups, as for a copy (design 12).
 */
export function useReadTaken() {
  const transport = useTransport();
  return async (plans: readonly Plan[], signal?: AbortSignal): Promise<readonly string[]> => {
    const times = plans.map(({ at }) => at).filter((at) => !Number.isNaN(at));
    if (times.length === 0) return [];
    const planned = new Set(plans.map(({ id }) => id));
    const request = {
      deliveryFrom: new Date(Math.min(...times)).toISOString(),
      deliveryUntil: new Date(Math.max(...times) + 1).toISOString(),
      states: [SlotState.ACTIVE],
      limit: 1_000,
    };
    const concerns: string[] = [];
    for (let pageToken = ''; ; ) {
      const asked = { ...request, pageToken };
      const { message } = await transport.unary(
        SlotPlanService.method.listSlots,
        signal,
        undefined,
        undefined,
        asked,
        undefined,
      );
      for (const slot of message.slots) {
        const other = planOf(slot);
        if (planned.has(slot.id) || !plans.some((plan) => isSamePlace(other, plan))) continue;
        concerns.push(`Slot ${slot.id} is at this time already: ${formatDate(new Date(other.at))}.`);
      }
      pageToken = message.nextPageToken;
      if (pageToken === '') return concerns;
    }
  };
}

/** Says which other slots take the times of plans, for a form's question. */
export function useTaken(plans: readonly Plan[]): { readonly taken: readonly string[]; readonly isChecking: boolean } {
  const read = useReadTaken();
  const asked = JSON.stringify(plans);
  const settled = useDebounced(asked);
  const { data = [], isFetching } = useQuery({
    queryKey: ['taken', settled],
    queryFn: ({ signal }) => read(JSON.parse(settled), signal),
    enabled: plans.length > 0 && settled === asked,
  });
  return plans.length === 0
    ? { taken: [], isChecking: false }
    : { taken: data, isChecking: isFetching || settled !== asked };
}

function isSamePlace(one: Plan, other: Plan): boolean {
  if (one.at !== other.at) return false;
  return one.groupIds.length + other.groupIds.length === 0 || one.groupIds.some((id) => other.groupIds.includes(id));
}
