import { type DragEvent, type KeyboardEvent, memo, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { PlannedSlot } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { timeInput } from '../../business/time-input.ts';
import { type Chosen, ChosenContext } from '../../lists/chosen.ts';
import { Button } from '../../ui/button.tsx';
import { InSight } from '../../ui/in-sight.tsx';
import { type Day, hourText } from './days.ts';
import type { Shift } from './move.ts';
import { type Cell, cellOf, placeBeside, placeOf, slotIdOf } from './places.ts';
import { SlotCard } from './slot-card.tsx';

declare module 'react' {
  interface CSSProperties {
    /** How many hours the calendar shows. */
    readonly '--hours'?: number | undefined;
  }
}

interface CalendarProps {
  /** Each with its name, such as "Monday 23 November". */
  readonly days: readonly (Day & { readonly name: string })[];
  /** Such as 2026-11-23. */
  readonly today: string;
  /** In Unix ms. */
  readonly now: number;
  readonly groups: ReadonlyMap<number, string>;
  readonly chosen: Chosen;
  onMove(slots: readonly PlannedSlot[], by: Shift): void;
}

/** So many slots are all drawn at once; of more, only those in sight. */
const alwaysDrawn = 60;
/** The usual height of a slot's card and of a free place. */
const [cardPx, freePx] = [150, 32];

const keysDays: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 };
const keysMinutes: Readonly<Record<string, number>> = { ArrowUp: -60, ArrowDown: 60 };

/**
 * The days with their slots by the hour. Arrow keys go from place to place, with Shift they choose on the way, and with
 * Alt they move what is chosen, as dragging does. Space chooses.
 */
export function Calendar({ days, today, now, groups, chosen, onMove }: CalendarProps): ReactNode {
  const slots = days.flatMap((day) => day.slots);
  const isAlwaysDrawn = slots.length <= alwaysDrawn;
  /** The slots that a key or the pointer moves: those that are chosen, or else the one that has it. */
  const movedWith = (id: number) => slots.filter((slot) => (chosen.has(id) ? chosen.has(slot.id) : slot.id === id));
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const place = placeOf(event.target);
    const { key } = event;
    if (key === 'Escape') chosen.clear();
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
  const drag = ({ target, dataTransfer }: DragEvent<HTMLElement>) => {
    const [id, from] = [slotIdOf(placeOf(target)), cellOf(target)];
    if (id === 0 || from === undefined) return;
    dataTransfer.setData('text/plain', `Slot ${id}`);
    setDragged({ slots: movedWith(id), from });
  };
  const drop = (event: DragEvent<HTMLElement>) => {
    const to = cellOf(event.target);
    if (dragged === undefined || to === undefined) return;
    event.preventDefault();
    setDragged(undefined);
    const { from, slots: moved } = dragged;
    const days = Math.round((Date.parse(to.day) - Date.parse(from.day)) / 86_400_000);
    onMove(moved, { days, minutes: (to.hour - from.hour) * 60 });
  };
  const calendar = useRef<HTMLDivElement>(null);
  const hourNow = days[0]?.day === today ? Number(timeInput(new Date(now)).slice(11, 13)) : undefined;
  // What comes next today is in sight at first.
  // biome-ignore lint/correctness/useExhaustiveDependencies: staff scroll from there.
  useEffect(() => {
    const cells = [...(calendar.current?.querySelectorAll<HTMLElement>('.day:first-child > .hour') ?? [])];
    const next = cells.find(({ dataset, offsetHeight }) => Number(dataset.hour) >= (hourNow ?? 24) && offsetHeight > 0);
    if ((next?.getBoundingClientRect().bottom ?? 0) > window.innerHeight) next?.scrollIntoView({ block: 'center' });
  }, [days[0]?.day]);
  return (
    <ChosenContext value={chosen}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys are a shorter way to what the links and buttons in it do. */}
      <div
        ref={calendar}
        className={`week ${days.length > 1 ? 'many' : 'one'} ${dragged === undefined ? '' : 'dragging'}`}
        style={{ '--hours': days[0]?.hours.length }}
        onKeyDown={press}
        onDragStart={drag}
        onDragOver={(event) => {
          if (dragged !== undefined && cellOf(event.target) !== undefined) event.preventDefault();
        }}
        onDrop={drop}
        onDragEnd={() => setDragged(undefined)}
      >
        {days.map(({ day, name, hours, slots: ofDay }) => (
          <DayColumn key={day} day={day} name={name} isEmpty={ofDay.length === 0} isPast={day < today}>
            {hours.map((hour) => (
              <HourCell
                key={hour.hour}
                {...{ ...hour, day, now, groups, isAlwaysDrawn }}
                nameOfDay={name}
                isPast={day < today}
              />
            ))}
          </DayColumn>
        ))}
      </div>
    </ChosenContext>
  );
}

interface DayColumnProps {
  readonly day: string;
  readonly name: string;
  readonly isEmpty: boolean;
  readonly isPast: boolean;
  readonly children: ReactNode;
}

function DayColumn({ day, name, isEmpty, isPast, children }: DayColumnProps): ReactNode {
  return (
    <section className="day" data-day={day} aria-label={name}>
      <header>
        <h2>{name}</h2>
        {isEmpty ? (
          <span className="detail">No slots</span>
        ) : (
          <Link to={`/slots/sheets?day=${day}`} aria-label={`Run sheets of ${name}`}>
            Run sheets
          </Link>
        )}{' '}
        {!isPast && (
          <Link to={`/slots/new?day=${day}`} aria-label={`Add a slot on ${name}`}>
            Add a slot
          </Link>
        )}
      </header>
      {children}
    </section>
  );
}

interface HourCellProps extends Pick<CalendarProps, 'now' | 'groups'> {
  readonly day: string;
  readonly nameOfDay: string;
  readonly hour: number;
  readonly slots: readonly PlannedSlot[];
  readonly isPast: boolean;
  readonly isAlwaysDrawn: boolean;
}

const shownAtOnce = 30;

/**
 * The slots of an hour, and a free place for another one. It is drawn again only if something in it changes: a choice,
 * or a further page of a large week, changes few of a hundred cells.
 */
const HourCell = memo(function HourCell(props: HourCellProps): ReactNode {
  const { day, nameOfDay, hour, slots, isPast, isAlwaysDrawn, now, groups } = props;
  const [most, setMost] = useState(shownAtOnce);
  const [isOver, setIsOver] = useState(false);
  const time = hourText(hour);
  const content = () => (
    <>
      {slots.length > 0 && (
        <ul className="cards">
          {slots.slice(0, most).map((slot) => (
            <SlotCard key={slot.id} {...{ slot, now, groups }} />
          ))}
        </ul>
      )}
      {slots.length > most && (
        <Button onPress={() => setMost(most + shownAtOnce)}>Show {slots.length - most} more</Button>
      )}
      {!isPast && (
        <Link
          className="free"
          data-place=""
          tabIndex={-1}
          to={`/slots/new?at=${day}T${time}`}
          aria-label={`Add a slot on ${nameOfDay} at ${time}`}
        >
          {time}
        </Link>
      )}
    </>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: slots are moved by keys, too.
    <div
      className={`hour ${slots.length > 0 ? 'used' : ''} ${isOver ? 'over' : ''}`}
      data-hour={hour}
      onDragOver={() => setIsOver(true)}
      onDragLeave={() => setIsOver(false)}
      onDrop={() => setIsOver(false)}
    >
      {slots.length === 0 ? (
        content()
      ) : (
        <InSight
          className="in-hour"
          estimatePx={Math.min(slots.length, most) * cardPx + freePx}
          isAlwaysDrawn={isAlwaysDrawn}
        >
          {content}
        </InSight>
      )}
    </div>
  );
}, haveSame);

/** Whether a cell has the same props: its list is made anew of slots that stay the same. */
function haveSame(before: HourCellProps, after: HourCellProps): boolean {
  const values = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).every(([name, value]) => isSameProp(values.get(name), value));
}

function isSameProp(before: unknown, after: unknown): boolean {
  if (!Array.isArray(before) || !Array.isArray(after)) return Object.is(before, after);
  return before.length === after.length && before.every((element, index) => Object.is(element, after[index]));
}
