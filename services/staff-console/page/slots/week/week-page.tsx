import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useMemo, useState, useSyncExternalStore } from 'react';
import { Link } from 'react-router';
import { type ListSlotsResponse, SlotPlanService, SlotState } from '#gen/slot/v1/slot_plan_service_pb';
import { useNow } from '../../business/time.tsx';
import { fromTimeInput, readDay, shiftDay, timeInput } from '../../business/time-input.ts';
import { Switch } from '../../forms/switch.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { useFilters, withFilters } from '../../lists/filters.ts';
import { SelectionBar, useChosen } from '../../lists/selection.tsx';
import { useRows } from '../../lists/source.ts';
import { Views } from '../../lists/views.tsx';
import { useGroups } from '../../lookup/names.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Page, Read } from '../../ui/page.tsx';
import { late } from '../../ui/pauses.tsx';
import { readId } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { useMoving } from '../bulk/use-moving.tsx';
import { reachingBack } from '../record/ends.ts';
import { Calendar } from './calendar.tsx';
import { nameOf, toDays } from './days.ts';
import { shownInDay, shownInWeek, slotViews } from './hour-cell.tsx';
import { useKeptFocus } from './places.ts';
import '../record/slots.css';
import './week.css';

// Fetched when they are first needed.
const SlotActions = late(async () => (await import('../bulk/slot-actions.tsx')).SlotActions);
const CopyDialog = late(async () => (await import('../bulk/copy-dialog.tsx')).CopyDialog);

const text = words.slots;
/** So many slots are all drawn at once; of more, only those in sight. */
const alwaysDrawn = 60;
const startOf = (day: string) => fromTimeInput(`${day}T00:00`);
const rowsOf = ({ slots }: ListSlotsResponse) => slots;
// With room for seven days side by side.
const wide = matchMedia('(width >= 60rem)');
const subscribeToWide = (onChange: () => void) => {
  wide.addEventListener('change', onChange);
  return () => wide.removeEventListener('change', onChange);
};

/** The calendar: the slots of a week or of a day by the hour, with the hours that are free. */
export function Component() {
  const { values, set } = useFilters(['day', 'span', 'deactivated', 'lanes']);
  const now = useNow(20_000);
  const timeNow = timeInput(new Date(now));
  const today = timeNow.slice(0, 10);
  const first = readDay(values.day) ?? today;
  const count = values.span === 'day' ? 1 : 7;
  const isWide = useSyncExternalStore(subscribeToWide, () => wide.matches);
  const interval = { deliveryFrom: startOf(first), deliveryUntil: startOf(shiftDay(first, count)) };
  const states = values.deactivated === '' ? [SlotState.ACTIVE] : [SlotState.ACTIVE, SlotState.INACTIVE];
  // Pages that a phone takes in without a pause.
  const request = { ...interval, deliveryFrom: reachingBack(first), states, limit: 200 };
  const query = useRows({ method: SlotPlanService.method.listSlots, request, rowsOf }, true);
  const [isUnfolded, setIsUnfolded] = useState(false);
  const { rows } = query;
  const days = useMemo(() => toDays(rows ?? [], first, count, isUnfolded), [rows, first, count, isUnfolded]);
  const slots = days.flatMap((day) => day.slots);
  const view = `${first} ${count}`;
  const ids = slots.map(({ id }) => id);
  const chosen = useChosen(ids, view);
  const chosenSlots = slots.filter(({ id }) => chosen.has(id));
  const [opened, setOpened] = useState({ view, id: 0 });
  const { move, ask, dialog } = useMoving(now, (left) => chosen.count > 0 && chosen.only(left));
  const [isCopying, setIsCopying] = useState(false);
  const groups = useGroups();
  const span = count === 1 ? text.thisDay : text.thisWeek;
  return (
    <Page
      title={text.title}
      actions={
        <>
          {slots.length > 0 && <Button onPress={() => setIsCopying(true)}>{text.copySpan(span)}</Button>}
          <ButtonLink href={`/slots/new?day=${first > today ? first : shiftDay(today, 1)}`} emphasis="primary">
            {text.newSlot}
          </ButtonLink>
        </>
      }
    >
      <Views label={text.views} links={slotViews}>
        <div className="actions">
          <Button emphasis="quiet" aria-label={text.earlier} onPress={() => set({ day: shiftDay(first, -count) })}>
            <ChevronLeft />
          </Button>
          <Button onPress={() => set({ day: '' })}>{words.today}</Button>
          <Button emphasis="quiet" aria-label={text.later} onPress={() => set({ day: shiftDay(first, count) })}>
            <ChevronRight />
          </Button>
        </div>
        <strong>{count === 1 ? nameOf(first) : text.range(nameOf(first), nameOf(shiftDay(first, 6)))}</strong>
        <TextField label={text.goTo} type="date" value={first} onChange={(day) => set({ day })} />
        <nav className="tabs" aria-label={text.span}>
          {[['day', words.day] as const, ['', text.week] as const].map(([each, name]) => (
            <Link
              key={name}
              to={`?${withFilters({ span: each, day: first, lanes: '' })()}`}
              {...(values.span === each && { className: 'active', 'aria-current': true })}
            >
              {name}
            </Link>
          ))}
        </nav>
        <Switch
          isSelected={values.deactivated !== ''}
          onChange={(isShown) => set({ deactivated: isShown ? 'shown' : '' })}
        >
          {text.showDeactivated}
        </Switch>
      </Views>
      <div {...useKeptFocus()}>
        <Read query={query} what={text.theSlots}>
          {() => (
            <Calendar
              {...{ days, now, timeNow, groups, chosen }}
              isGrid={isWide || count === 1}
              isAlwaysDrawn={slots.length <= alwaysDrawn}
              mostLanes={count > 1 ? shownInWeek : (readId(values.lanes) ?? (isWide ? shownInDay : shownInWeek + 1))}
              opened={opened.view === view ? opened.id : 0}
              onOpen={(id) => setOpened({ view, id })}
              onMove={move}
              onAskMove={ask}
              onUnfold={() => setIsUnfolded(true)}
            />
          )}
        </Read>
        {chosenSlots.length > 0 && (
          <SelectionBar count={chosenSlots.length} onClear={chosen.clear}>
            <SlotActions slots={chosenSlots} now={now} onMove={() => ask(chosenSlots)} />
          </SelectionBar>
        )}
      </div>
      {dialog}
      {isCopying && (
        <CopyDialog
          now={now}
          what={span}
          source={interval}
          day={first}
          onClose={() => setIsCopying(false)}
          onCopied={(day) => {
            set({ day });
            // Once the dialog has gone, the keyboard goes on at the top of the days with the copies.
            setTimeout(() => document.querySelector<HTMLElement>('h1')?.focus());
          }}
        />
      )}
    </Page>
  );
}
