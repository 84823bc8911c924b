import { useTransport } from '@connectrpc/connect-query';
import { useQuery } from '@tanstack/react-query';
import { formatDate } from '../../business/time.tsx';
import { readTimeInput } from '../../business/time-input.ts';
import { useDebounced } from '../../ui/pauses.ts';
import { words } from '../../words.ts';
import type { SlotDraft } from './slot-draft.ts';
import { type Plan, readTaken } from './taken.ts';

/** Returns the plan of a form, unless its time is none yet. */
export function plansOf({ deliveryTime, groups }: SlotDraft, id = 0): Plan[] {
  const at = readTimeInput(deliveryTime)?.getTime();
  return at === undefined ? [] : [{ id, at, groupIds: groups.map((group) => group.id) }];
}

/** Says which other slots take the times of plans, for a form's question. */
export function useTaken(plans: readonly Plan[]): { readonly taken: readonly string[]; readonly isChecking: boolean } {
  const transport = useTransport();
  const asked = JSON.stringify(plans);
  const settled = useDebounced(asked);
  const { data = [], isFetching } = useQuery({
    queryKey: ['taken', settled],
    queryFn: ({ signal }) => readTaken(transport, JSON.parse(settled), signal),
    enabled: plans.length > 0 && settled === asked,
  });
  return plans.length === 0
    ? { taken: [], isChecking: false }
    : { taken: data.map(inWords), isChecking: isFetching || settled !== asked };
}

const inWords = ({ id, at }: Plan) => words.slot.concerns.taken(id, formatDate(new Date(at)));
