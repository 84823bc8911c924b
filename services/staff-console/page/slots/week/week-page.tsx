import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react';
import {
  type ListSlotsResponse,
  SlotPlanService,
  SlotState,
} from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { formatDay, useNow } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readDay, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { Switch } from '../../forms/switch.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useChosen } from '../../lists/chosen.ts';
import { useFilters } from '../../lists/filters.ts';
import { byToken, useRows } from '../../lists/source.ts';
import { Views } from '../../lists/views.tsx';
import { useGroups } from '../../lookup/names.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { slotsInWords } from '../record/slot-state.tsx';
import { Calendar } from './calendar.tsx';
import { toDays } from './days.ts';
import { useKeptFocus } from './kept-focus.ts';
import { type Moved, type Shift, useMove } from './move.ts';
import { slotViews } from './slot-card.tsx';
import '../record/slots.css';
import './week.css';

// Fetched when they are first needed.
const MoveDialog = lazy(async () => ({ default: (await import('./on-demand.ts')).MoveDialog }));
const ChosenBar = lazy(async () => ({ default: (await import('./on-demand.ts')).ChosenBar }));
const CopyDialog = lazy(async () => ({ default: (await import('./on-demand.ts')).CopyDialog }));

const rowsOf = ({ slots }: ListSlotsResponse) => slots;
const allStates = [SlotState.ACTIVE, SlotState.INACTIVE];

/** The calendar: the slots of a week or of a day by the hour, with the hours that are free. */
export function Component(): ReactNode {
  const { values, set } = useFilters(['day', 'span', 'deactivated']);
  const now = useNow(20_000);
  const today = dateInput(new Date(now));
  const first = readDay(values.day) ?? today;
  const count = values.span === 'day' ? 1 : 7;
  const interval = {
    deliveryFrom: fromTimeInput(`${first}T00:00`),
    deliveryUntil: fromTimeInput(`${shiftDay(first, count)}T00:00`),
  };
  const states = values.deactivated === '' ? [SlotState.ACTIVE] : allStates;
  // Pages that a phone takes in without a pause.
  const request = { ...interval, states, limit: 200 };
  const query = useRows({ method: SlotPlanService.method.listSlots, request, rowsOf, next: byToken }, true);
  const { rows } = query;
  const days = useMemo(() => {
    const nameOf = (day: string) => formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
    return toDays(rows ?? [], first, count).map((day) => ({ ...day, name: nameOf(day.day) }));
  }, [rows, first, count]);
  const slots = days.flatMap((day) => day.slots);
  const chosen = useChosen(
    slots.map(({ id }) => id),
    `${first} ${count}`,
  );
  const [asked, setAsked] = useState<{ readonly slots: readonly Moved[]; readonly by: Shift }>();
  const move = useMove((moved, by) => setAsked({ slots: moved, by }));
  const moveNow = async (...moved: Parameters<typeof move>) => {
    const left = await move(...moved);
    if (left.length > 0 && chosen.count > 0) chosen.only(left);
  };
  const keptFocus = useKeptFocus(
    (left) =>
      document.querySelector<HTMLElement>(`[data-place="${left.getAttribute('data-place') || 'none'}"]`) ??
      document.querySelector<HTMLElement>('.chosen-bar') ??
      document.querySelector<HTMLElement>('h1'),
  );
  const [copied, setCopied] = useState<'all' | 'chosen'>();
  const groups = useGroups();
  const chosenSlots = slots.filter(({ id }) => chosen.has(id));
  const span = count === 1 ? 'day' : 'week';
  return (
    <Page
      title="Slots"
      actions={
        <>
          <ButtonLink href={`/slots/new?day=${first > today ? first : shiftDay(today, 1)}`} emphasis="primary">
            New slot
          </ButtonLink>
          {slots.length > 0 && <Button onPress={() => setCopied('all')}>Copy this {span} to…</Button>}
        </>
      }
    >
      <Views label="Views of the slots" links={slotViews}>
        <div className="actions">
          <Button onPress={() => set({ day: shiftDay(first, -count) })}>Earlier</Button>
          <Button onPress={() => set({ day: '' })}>Today</Button>
          <Button onPress={() => set({ day: shiftDay(first, count) })}>Later</Button>
          <Button onPress={() => set({ span: count === 1 ? '' : 'day', day: first })}>
            {count === 1 ? 'Show the week' : 'Show one day'}
          </Button>
        </div>
        <TextField label="From" type="date" value={first} onChange={(day) => set({ day })} />
        <Switch
          isSelected={values.deactivated !== ''}
          onChange={(isShown) => set({ deactivated: isShown ? 'shown' : '' })}
        >
          Deactivated ones, too
        </Switch>
      </Views>
      <div {...keptFocus}>
        <Read query={query} what="the slots">
          {() => <Calendar {...{ days, today, now, groups, chosen }} onMove={(moved, by) => void moveNow(moved, by)} />}
        </Read>
        <details>
          <summary>Keys</summary>
          <p>
            Arrow keys go from slot to slot and to free hours. Space chooses a slot, Shift with an arrow chooses on the
            way. Alt with an arrow moves what is chosen by a day or an hour. Enter opens a slot, or makes one at a free
            hour. Escape chooses none.
          </p>
        </details>
        <Suspense>
          {chosenSlots.length > 0 && (
            <ChosenBar
              slots={chosenSlots}
              onMove={() => setAsked({ slots: chosenSlots, by: { days: 0, minutes: 0 } })}
              onCopy={() => setCopied('chosen')}
              onClear={chosen.clear}
            />
          )}
        </Suspense>
      </div>
      <Suspense>
        {asked !== undefined && (
          <MoveDialog
            slots={asked.slots}
            start={asked.by}
            now={now}
            onClose={() => setAsked(undefined)}
            onMove={(by) => {
              setAsked(undefined);
              void moveNow(asked.slots, by, true);
            }}
          />
        )}
        {copied !== undefined && (
          <CopyDialog
            now={now}
            what={copied === 'all' ? `this ${span}` : slotsInWords(chosenSlots.length)}
            source={copied === 'all' ? interval : { slotIds: chosenSlots.map(({ id }) => id) }}
            day={
              copied === 'all' ? first : (days.find((day) => day.slots.some(({ id }) => chosen.has(id)))?.day ?? first)
            }
            onClose={() => setCopied(undefined)}
            onCopied={(day) => {
              setCopied(undefined);
              if (copied === 'all') set({ day });
            }}
          />
        )}
      </Suspense>
    </Page>
  );
}
