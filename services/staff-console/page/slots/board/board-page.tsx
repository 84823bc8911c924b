import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type ReactNode, useMemo } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type ListSlotsResponse,
  type PlannedSlot,
  SlotPlanService,
  SlotState,
} from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { formatDay, useNow } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readDay, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { Switch } from '../../forms/choice.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useFilters } from '../../lists/filters.ts';
import { byToken, useRows } from '../../lists/source.ts';
import { Views } from '../../lists/views.tsx';
import { useGroups } from '../../lookup/names.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { SlotCard, slotViews } from './slot-card.tsx';
import '../record/slots.css';

const daysShown = 7;
const rowsOf = ({ slots }: ListSlotsResponse) => slots;
const allStates = [SlotState.ACTIVE, SlotState.INACTIVE];

/** Shows the slots of a week, day by day, with the days that have none. */
export function Component(): ReactNode {
  const { values, set } = useFilters(['day', 'deactivated']);
  const now = useNow(20_000);
  const today = dateInput(new Date(now));
  const first = readDay(values.day) ?? today;
  const request = {
    deliveryFrom: fromTimeInput(`${first}T00:00`),
    deliveryUntil: fromTimeInput(`${shiftDay(first, daysShown)}T00:00`),
    states: values.deactivated === '' ? [SlotState.ACTIVE] : allStates,
    limit: 1_000,
  };
  const source = { method: SlotPlanService.method.listSlots, request, rowsOf, next: byToken };
  const query = useRows(source, true);
  const { data } = query;
  const days = useMemo(() => slotsByDay(data?.pages.flatMap(rowsOf) ?? [], first), [data, first]);
  const groups = useGroups();
  return (
    <Page
      title="Slots"
      actions={
        <ButtonLink href={`/slots/new?day=${first > today ? first : shiftDay(today, 1)}`} emphasis="primary">
          New slot
        </ButtonLink>
      }
    >
      <Views label="Views of the slots" links={slotViews}>
        <div className="actions">
          <Button onPress={() => set({ day: shiftDay(first, -daysShown) })}>Earlier</Button>
          <Button onPress={() => set({ day: '' })}>Today</Button>
          <Button onPress={() => set({ day: shiftDay(first, daysShown) })}>Later</Button>
        </div>
        <TextField label="From" type="date" value={first} onChange={(day) => set({ day })} />
        <Switch
          isSelected={values.deactivated !== ''}
          onChange={(isShown) => set({ deactivated: isShown ? 'shown' : '' })}
        >
          Deactivated ones, too
        </Switch>
      </Views>
      <Read query={query} what="the slots">
        {() => (
          <div className="board">
            {days.map((each) => (
              <Day key={each.day} {...each} isPast={each.day < today}>
                {each.slots.map((slot) => (
                  <SlotCard key={slot.id} slot={slot} now={now} groups={groups} />
                ))}
              </Day>
            ))}
          </div>
        )}
      </Read>
    </Page>
  );
}

interface DayProps extends BoardDay {
  readonly isPast: boolean;
  /** The cards of the slots. */
  readonly children: readonly ReactNode[];
}

function Day({ day, slots, isPast, children }: DayProps): ReactNode {
  const name = formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
  return (
    <section aria-label={name}>
      <header className="section-header">
        <h2>{name}</h2>
        {slots.length === 0 && <span className="detail">No slots</span>}
        {!isPast && (
          <Link href={`/slots/new?day=${day}`} aria-label={`Add a slot on ${name}`}>
            Add a slot
          </Link>
        )}
      </header>
      {slots.length > 0 && <ul className="cards">{children}</ul>}
    </section>
  );
}

interface BoardDay {
  /** Such as 2026-11-23. */
  readonly day: string;
  /** By delivery time. */
  readonly slots: readonly PlannedSlot[];
}

function slotsByDay(slots: readonly PlannedSlot[], first: string): BoardDay[] {
  const days = new Map<string, PlannedSlot[]>();
  for (let n = 0; n < daysShown; n += 1) days.set(shiftDay(first, n), []);
  for (const slot of slots) {
    if (slot.deliveryTime !== undefined) days.get(dateInput(timestampDate(slot.deliveryTime)))?.push(slot);
  }
  return [...days].map(([day, ofDay]) => ({ day, slots: ofDay }));
}
