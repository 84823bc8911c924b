import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { useEffect, useId, useRef } from 'react';
import { Link } from 'react-aria-components/Link';
import { type GetOverviewResponse, type PlannedSlot, SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { dateInput, fromTimeInput, shiftDay } from '../business/time-input.ts';
import type { Column } from '../lists/column.ts';
import { ListTable } from '../lists/list-table.tsx';
import { CapacityBar } from '../slots/record/capacity-bar.tsx';
import { describeEnd, SlotBadge } from '../slots/record/slot-state.tsx';
import { slotTime } from '../slots/record/slot-time.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Empty, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { words } from '../words.ts';

const text = words.overview;
// So that the chart begins on a laptop's first screen.
const shown = 8;

interface SlotRowsProps {
  /** In Unix ms. */
  readonly now: number;
  /** Such as 2026-11-23. */
  readonly today: string;
  /** The sums of today: the slots are read again when they have changed. */
  readonly sums: GetOverviewResponse | undefined;
}

/** Lists the slots of today and tomorrow that are not over, soonest first, with what is booked and when orders close. */
export function SlotRows({ now, today, sums }: SlotRowsProps) {
  const id = useId();
  const [from, until] = [today, shiftDay(today, 2)].map((day) => fromTimeInput(`${day}T00:00`));
  const request = { deliveryFrom: from ?? '', deliveryUntil: until ?? '', limit: 200 };
  const query = useQuery(SlotPlanService.method.listSlots, request, { placeholderData: keepPreviousData });
  const { refetch } = query;
  const state = sums && `${sums.booked} ${sums.held} ${sums.full}`;
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current !== undefined && seen.current !== state) void refetch();
    seen.current = state;
  }, [state, refetch]);
  const left = query.data?.slots.filter((slot) => endOf(slot) > now);
  return (
    <Section
      title={text.slotsOf}
      actions={
        <>
          <span id={id} className="detail">
            {left !== undefined && text.next(left.length, shown)}
          </span>
          <ButtonLink href="/slots">{words.slots.calendar}</ButtonLink>
        </>
      }
    >
      <Read query={{ ...query, data: left }} what={text.theSlots}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>
              {text.noSlots}
              <ButtonLink href="/slots/new">{words.slots.newSlot}</ButtonLink>
            </Empty>
          ) : (
            <ListTable
              labelledBy={id}
              columns={columns(now, today)}
              rows={rows.slice(0, shown)}
              keyOf={(slot) => slot.id}
            />
          )
        }
      </Read>
    </Section>
  );
}

const msOf = (at: Timestamp | undefined) => (at === undefined ? 0 : timestampMs(at));
const endOf = ({ deliveryTime, windowMinutes = 0 }: PlannedSlot) => msOf(deliveryTime) + windowMinutes * 60_000;

/** Names when a slot is delivered, such as "Today 08:00 – 10:00". */
function describeDelivery(slot: PlannedSlot, today: string): string {
  const isToday = dateInput(new Date(msOf(slot.deliveryTime))) === today;
  return `${isToday ? text.today : text.tomorrow} ${slotTime(slot, true)}`;
}

function columns(now: number, today: string): readonly Column<PlannedSlot>[] {
  const delivery = (slot: PlannedSlot) => describeDelivery(slot, today);
  return [
    {
      title: text.delivery,
      show: (slot) => <Link href={`/slots/${slot.id}`}>{delivery(slot)}</Link>,
      text: delivery,
      className: 'name',
    },
    {
      title: text.bookedUnits,
      text: ({ booked = 0, capacity }) => (capacity === undefined ? text.noCapacity : `${booked}/${capacity}`),
      show: ({ booked = 0, capacity }) =>
        capacity === undefined ? (
          <span className="detail">{text.noCapacity}</span>
        ) : (
          <span className="booked">
            <CapacityBar {...{ booked, capacity }} />
            <span aria-hidden="true">
              {booked}/{capacity}
            </span>
          </span>
        ),
    },
    {
      title: text.stateOfSlot,
      text: (slot) => describeEnd(slot, now),
      show: (slot) => (
        <>
          <SlotBadge slot={slot} now={now} /> <span className="detail">{describeEnd(slot, now)}</span>
        </>
      ),
      className: 'name',
    },
  ];
}
