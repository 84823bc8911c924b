import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useIsFetching } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { type ListSlotsResponse, type PlannedSlot, SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { formatDay, useNow } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readDay, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { byToken, useRows } from '../../lists/source.ts';
import { clock } from '../../session/clock.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { readId } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { Sheet } from './sheet.tsx';
import './sheets.css';

const text = words.slot.sheets;
const rowsOf = ({ slots }: ListSlotsResponse) => slots;

/** The run sheets to print: of one slot, or of all active slots of a day, each on a page of its own. */
export function Component() {
  const [params] = useSearchParams();
  const slotId = readId(params.get('slot'));
  const day = readDay(params.get('day')) ?? dateInput(new Date(clock.now()));
  const name = formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
  // What is printed early would lack what is still being read.
  const isReading = useIsFetching() > 0;
  return (
    <Page
      title={slotId === undefined ? text.ofDay(name) : text.of(slotId)}
      actions={
        <>
          <ButtonLink href={slotId === undefined ? `/slots?day=${day}` : `/slots/${slotId}`}>{text.back}</ButtonLink>
          <Button emphasis="primary" isPending={isReading} onPress={() => window.print()}>
            {isReading ? text.reading : text.print}
          </Button>
        </>
      }
    >
      {slotId === undefined ? (
        <SheetsOfDay day={day} isWithPast={params.get('past') === 'shown'} />
      ) : (
        <Sheet slotId={slotId} />
      )}
    </Page>
  );
}

function SheetsOfDay({ day, isWithPast }: { readonly day: string; readonly isWithPast: boolean }) {
  const now = useNow(20_000);
  const request = {
    deliveryFrom: fromTimeInput(`${day}T00:00`),
    deliveryUntil: fromTimeInput(`${shiftDay(day, 1)}T00:00`),
    limit: 1_000,
  };
  const list = useRows({ method: SlotPlanService.method.listSlots, request, rowsOf, next: byToken }, true);
  // Of another day that has passed, all are.
  const isHidden = ({ deliveryTime, windowMinutes = 0 }: PlannedSlot) =>
    !isWithPast &&
    day === dateInput(new Date(now)) &&
    deliveryTime !== undefined &&
    timestampMs(deliveryTime) + windowMinutes * 60_000 < now;
  return (
    <Read query={{ ...list, data: list.rows }} what={words.slots.theSlots}>
      {(slots) => {
        const hidden = slots.filter(isHidden).length;
        return (
          <>
            {slots.length === 0 && <Empty>{words.slot.move.none}</Empty>}
            {hidden > 0 && (
              <ButtonLink href={`/slots/sheets?day=${day}&past=shown`}>{text.showPast(hidden)}</ButtonLink>
            )}
            {slots
              .filter((slot) => !isHidden(slot))
              .map(({ id }) => (
                <Sheet key={id} slotId={id} />
              ))}
          </>
        );
      }}
    </Read>
  );
}
