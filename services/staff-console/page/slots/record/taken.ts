import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Transport } from '@connectrpc/connect';
import { useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { type PlannedSlot, SlotPlanService, SlotState } from '#gen/slot/v1/slot_plan_service_pb';
import { formatDate } from '../../business/time.tsx';
import { useDebounced } from '../../ui/pauses.tsx';
import { words } from '../../words.ts';

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
