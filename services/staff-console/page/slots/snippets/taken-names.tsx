import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type CopySlotsResponse, SlotPlanService, SlotState } from '#gen/slot/v1/slot_plan_service_pb';
import { ButtonLink } from '../../ui/button.tsx';
import { words } from '../../words.ts';
import { FlagButton } from '../record/update-slots.tsx';

/**
 * Leads to the deactivated slots that keep names of snippets, such as copies that an undo has taken back. Takes what a
 * copy would make without snippets.
 */
export function TakenNames({ copies }: Pick<CopySlotsResponse, 'copies'>) {
  const times = copies.flatMap(({ slot }) => (slot?.deliveryTime ? timestampMs(slot.deliveryTime) : []));
  const request = times.length > 0 && {
    deliveryFrom: new Date(Math.min(...times)).toISOString(),
    deliveryUntil: new Date(Math.max(...times) + 1).toISOString(),
    states: [SlotState.INACTIVE],
    limit: 1_000,
  };
  const { data } = useQuery(SlotPlanService.method.listSlots, request || skipToken);
  const withSnippets = data?.slots.filter(({ snippetCodes }) => snippetCodes.length > 0) ?? [];
  const kept = withSnippets
    .filter(({ deliveryTime: at }) => at && times.includes(timestampMs(at)))
    // UpdateSlots takes no more.
    .slice(0, 500);
  const [slot] = kept;
  if (slot === undefined) return null;
  return (
    <div className="problem" role="status">
      <p>{words.slot.snippets.kept(kept.length)}</p>
      <div className="actions">
        <FlagButton slots={kept} flag="isActive" value {...words.slots.on} />
        <ButtonLink href={`/slots/${slot.id}`}>{words.slot.open(slot.id)}</ButtonLink>
      </div>
    </div>
  );
}
