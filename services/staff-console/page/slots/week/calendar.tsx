import { type DragEvent, type KeyboardEvent, use, useState } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { type Chosen, ChosenContext } from '../../lists/selection.tsx';
import { Button } from '../../ui/button.tsx';
import { MoreMenu } from '../../ui/more-menu.tsx';
import { words } from '../../words.ts';
import type { Shift } from '../bulk/move.ts';
import { type Day, hourText, minuteOf } from './days.ts';
import { HourCell, type HourCellProps } from './hour-cell.tsx';
import { OpenedContext } from './opened.ts';
import { type Cell, cellBelow, placeBeside, placeOf, placeOfSlot, slotIdOf } from './places.ts';

declare module 'react' {
  interface CSSProperties {
    /** What the styles of the calendar compute places from. */
    readonly [property: `--${string}`]: number | undefined;
  }
}

const text = words.slots;

interface CalendarProps extends Pick<HourCellProps, 'now' | 'groups' | 'onAskMove'> {
  /** Each with its name, such as "Mon 23 Nov". */
  readonly days: readonly (Day & { readonly name: string })[];
  /** Such as 2026-11-23. */
  readonly today: string;
  /** Whether days stand side by side, with the hours at the left. Else one follows the other, with its slots only. */
  readonly isGrid: boolean;
  /** How many slots stand side by side at most. */
  readonly mostLanes: number;
  readonly chosen: Chosen;
  onMove(slots: readonly PlannedSlot[], by: Shift): void;
  /** Shows all hours. */
  onUnfold(): void;
}

/** So many slots are all drawn at once; of more, only those in sight. */
const alwaysDrawn = 60;

const keysDays: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
const keysMinutes: Readonly<Record<string, number>> = { ArrowUp: -60, ArrowDown: 60 };

/**
 * The days with their slots by the hour. Arrow keys go from place to place, with Shift they select on the way, and with
 * Alt they move what is selected, as dragging does. Space selects.
 */
export function Calendar(props: CalendarProps) {
  const { days, today, now, groups, isGrid, mostLanes, chosen, onMove, onAskMove, onUnfold } = props;
  const { id: opened, open } = use(OpenedContext);
  const slots = days.flatMap((day) => day.slots);
  /** The slots that a key or the pointer moves: those that are selected, or else the one that has it. */
  const movedWith = (id: number) => slots.filter((slot) => (chosen.has(id) ? chosen.has(slot.id) : slot.id === id));
  const close = () => {
    if (opened === undefined) return chosen.clear();
    placeOfSlot(opened)?.focus();
    open(undefined);
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const place = placeOf(event.target);
    const { key } = event;
    if (key === 'Escape') close();
    if (place === null) return;
    const id = slotIdOf(place);
    if (key === ' ' && event.target === place && id > 0) chosen.choose(id, event.shiftKey);
    else if (key in keysDays || key in keysMinutes) {
      if (event.altKey) {
        if (id > 0) onMove(movedWith(id), { days: keysDays[key] ?? 0, minutes: keysMinutes[key] ?? 0 });
      } else {
        const next = placeBeside(place, key);
        next?.focus();
        const ids = [id, slotIdOf(next)].filter((each) => each > 0);
        if (event.shiftKey) chosen.add(ids);
      }
    } else return;
    event.preventDefault();
  };
  const [dragged, setDragged] = useState<{ readonly slots: readonly PlannedSlot[]; readonly from: Cell }>();
  const [over, setOver] = useState<Cell>();
  const endDrag = () => {
    setDragged(undefined);
    setOver(undefined);
  };
  const drag = (event: DragEvent<HTMLElement>) => {
    const [id, from] = [slotIdOf(placeOf(event.target)), cellBelow(event)];
    if (id === 0 || from === undefined) return;
    event.dataTransfer.setData('text/plain', text.slot(id));
    setDragged({ slots: movedWith(id), from });
  };
  const dragOver = (event: DragEvent<HTMLElement>) => {
    const to = dragged && cellBelow(event);
    if (to !== undefined) event.preventDefault();
    if (to?.day !== over?.day || to?.hour !== over?.hour) setOver(to);
  };
  const drop = (event: DragEvent<HTMLElement>) => {
    const to = cellBelow(event);
    if (dragged === undefined || to === undefined) return;
    event.preventDefault();
    endDrag();
    const { from, slots: moved } = dragged;
    const by = Math.round((Date.parse(to.day) - Date.parse(from.day)) / 86_400_000);
    onMove(moved, { days: by, minutes: (to.hour - from.hour) * 60 });
  };
  const hours = days[0]?.hours ?? [];
  const minuteNow = minuteOf(new Date(now)) - 60 * (hours[0]?.hour ?? 0);
  const isShown = minuteNow >= 0 && minuteNow < 60 * hours.length;
  return (
    <ChosenContext value={chosen}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are a shorter way to what the links and buttons in it do. */}
      <div
        className={isGrid ? 'week grid' : 'week'}
        style={{
          '--hours': hours.length,
          '--days': days.length,
          '--least': days.length === 1 ? Math.min(mostLanes, lanesOf(days)) : 0,
        }}
        onKeyDown={press}
        onDragStart={drag}
        onDragOver={dragOver}
        onDrop={drop}
        onDragEnd={endDrag}
      >
        {isGrid && <Axis hours={hours.map(({ hour }) => hour)} onUnfold={onUnfold} />}
        {days.map((day, index) => (
          <section key={day.day} className="day" data-day={day.day} aria-label={day.name}>
            <DayHead {...{ ...day, chosen, isGrid }} isToday={day.day === today} isPast={day.day < today} />
            <div className="hours">
              {day.hours.map((hour) =>
                isGrid || hour.slots.length > 0 ? (
                  <HourCell
                    key={hour.hour}
                    {...{ ...hour, now, groups, isGrid, mostLanes, onAskMove }}
                    day={day.day}
                    nameOfDay={day.name}
                    isPast={day.day < today}
                    isAtEnd={isGrid && index > 3}
                    isOver={over?.day === day.day && over.hour === hour.hour}
                    isAlwaysDrawn={slots.length <= alwaysDrawn}
                  />
                ) : null,
              )}
              {isGrid && day.day === today && isShown && (
                <div className="now" style={{ '--minute': minuteNow, '--minutes': 5 }} />
              )}
            </div>
          </section>
        ))}
      </div>
    </ChosenContext>
  );
}

/** The most slots at one time. */
const lanesOf = (days: readonly Day[]) =>
  Math.max(1, ...days.flatMap(({ hours }) => hours.flatMap(({ slots }) => slots[0]?.lanes ?? 1)));

/** The hours at the left. Those at the ends without slots are folded until they are pressed. */
function Axis({ hours, onUnfold }: { readonly hours: readonly number[]; onUnfold(): void }) {
  const [first = 0, last = 23] = [hours[0], hours.at(-1)];
  const fold = (from: number, until: number) =>
    from < until && (
      <Button emphasis="quiet" aria-label={text.unfold(text.hours(from, until))} onPress={onUnfold}>
        {text.hours(from, until)}
      </Button>
    );
  return (
    <div className="axis">
      <div className="fold">{fold(0, first)}</div>
      {hours.map((hour) => (
        <span key={hour} aria-hidden="true">
          {hourText(hour)}
        </span>
      ))}
      {fold(last + 1, 24)}
    </div>
  );
}

interface DayHeadProps extends Pick<CalendarProps, 'chosen' | 'isGrid'> {
  readonly day: string;
  readonly name: string;
  readonly slots: readonly PlannedSlot[];
  readonly isToday: boolean;
  readonly isPast: boolean;
}

/** The head of a day: its date, which opens what is done with the day, and how much of it is booked. */
function DayHead({ day, name, slots, isToday, isPast, isGrid, chosen }: DayHeadProps) {
  const counted = slots.filter(({ isActive, capacity }) => isActive && capacity !== undefined);
  const sum = (of: (slot: PlannedSlot) => number | undefined) =>
    counted.reduce((all, slot) => all + (of(slot) ?? 0), 0);
  const booked =
    counted.length > 0 &&
    text.booked(
      sum((slot) => slot.booked),
      sum((slot) => slot.capacity),
    );
  return (
    <header className={isToday ? 'today' : undefined}>
      <h2>
        <MoreMenu
          isOfPart
          label={text.dayActions(name)}
          icon={isGrid ? name.split(' ', 2).join(' ') : name}
          actions={[
            ...(isPast ? [] : [{ name: text.add, href: `/slots/new?day=${day}` }]),
            ...(slots.length === 0
              ? []
              : [
                  { name: text.selectDay, run: () => chosen.add(slots.map(({ id }) => id)) },
                  { name: text.sheets, href: `/slots/sheets?day=${day}` },
                ]),
            { name: text.showDay, href: `/slots?span=day&day=${day}` },
          ]}
        />
      </h2>
      {isToday && <span className="visually-hidden">{text.today}</span>}
      <span className="detail">{slots.length === 0 ? text.none : booked}</span>
    </header>
  );
}
