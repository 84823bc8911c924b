import { useIsFetching } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { type ListSlotsResponse, SlotPlanService } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { formatDay } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readDay, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { byToken, useRows } from '../../lists/source.ts';
import { clock } from '../../session/clock.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Empty, Page } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { readId } from '../../ui/text.ts';
import { Sheet } from './sheet.tsx';
import './sheets.css';

const rowsOf = ({ slots }: ListSlotsResponse) => slots;

/** The run sheets to print: of one slot, or of all active slots of a day, each on a page of its own. */
export function Component(): ReactNode {
  const [params] = useSearchParams();
  const slotId = readId(params.get('slot'));
  const day = readDay(params.get('day')) ?? dateInput(new Date(clock.now()));
  const name = formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
  // What is printed early would lack what is still being read.
  const isReading = useIsFetching() > 0;
  return (
    <Page
      title={slotId === undefined ? `Run sheets of ${name}` : `Run sheet of slot ${slotId}`}
      actions={
        <>
          <Button emphasis="primary" isPending={isReading} onPress={() => window.print()}>
            {isReading ? 'Reading…' : 'Print'}
          </Button>
          <ButtonLink href={slotId === undefined ? `/slots?day=${day}` : `/slots/${slotId}`}>Back</ButtonLink>
        </>
      }
    >
      {slotId === undefined ? <SheetsOfDay day={day} /> : <Sheet slotId={slotId} />}
    </Page>
  );
}

function SheetsOfDay({ day }: { readonly day: string }): ReactNode {
  const request = {
    deliveryFrom: fromTimeInput(`${day}T00:00`),
    deliveryUntil: fromTimeInput(`${shiftDay(day, 1)}T00:00`),
    limit: 1_000,
  };
  const list = useRows({ method: SlotPlanService.method.listSlots, request, rowsOf, next: byToken }, true);
  return (
    <Read query={{ ...list, data: list.rows }} what="the slots">
      {(slots) =>
        slots.length === 0 ? (
          <Empty>No slots on this day.</Empty>
        ) : (
          slots.map(({ id }) => <Sheet key={id} slotId={id} />)
        )
      }
    </Read>
  );
}
