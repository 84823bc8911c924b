import { timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type CopySlotsResponse, SlotPlanService, SlotState } from '#gen/slot/v1/slot_plan_service_pb';
import { ButtonLink } from '../../ui/button.tsx';
import { FlagButton } from '../record/flag-button.tsx';
import { slotsInWords } from '../record/slot-state.tsx';

/** The most slots that UpdateSlots takes. */
const mostUpdated = 500;

/**
 * Leads to the deactivated slots that keep names of snippets, such as copies that an undo has taken back: a name can't be
 * given again, but these slots can be activated again.
 *
 * @param copies what the copy would make without snippets.
 */
export function TakenNames({ copies }: Pick<CopySlotsResponse, 'copies'>) {
  const times = copies
    .flatMap(({ slot }) => slot?.deliveryTime ?? [])
    .toSorted((a, b) => timestampMs(a) - timestampMs(b));
  const [first, last] = [times[0], times.at(-1)];
  const request = first &&
    last && {
      deliveryFrom: timestampDate(first).toISOString(),
      deliveryUntil: new Date(timestampMs(last) + 1).toISOString(),
      states: [SlotState.INACTIVE],
      limit: 1_000,
    };
  const { data } = useQuery(SlotPlanService.method.listSlots, request ?? skipToken);
  const places = new Set(times.map(timestampMs));
  const kept = data?.slots
    .filter(
      ({ snippetCodes, deliveryTime }) =>
        snippetCodes.length > 0 && deliveryTime !== undefined && places.has(timestampMs(deliveryTime)),
    )
    .slice(0, mostUpdated);
  const [slot] = kept ?? [];
  if (kept === undefined || slot === undefined) return null;
  return (
    <div className="problem" role="status">
      <p>
        {slotsInWords(kept.length)} at these times {kept.length === 1 ? 'is' : 'are'} deactivated, and
        {kept.length === 1 ? ' keeps its' : ' keep their'} snippets’ names. Activate
        {kept.length === 1 ? ' it' : ' them'} again instead, or choose other names.
      </p>
      <div className="actions">
        <FlagButton
          slots={kept}
          flag="isActive"
          value
          text="Activate again"
          done="activated again"
          undone="deactivated again"
        />
        <ButtonLink href={`/slots/${slot.id}`}>Open slot {slot.id}</ButtonLink>
      </div>
    </div>
  );
}
