import { type DragEvent, type KeyboardEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { MoreMenu } from '../../ui/more-menu.tsx';
import { words } from '../../words.ts';
import { daysBetween, type Shift } from '../bulk/move.ts';
import { type CalendarView, type Day, type Hour, minuteOf } from './days.ts';
import { HourCell } from './hour-cell.tsx';
import { hourBelow, placeBeside, placeOf, placeOfSlot, slotIdOf } from './places.ts';

const text = words.slots;

const shifts: Readonly<Record<string, Shift>> = {
  ArrowLeft: { days: -1, minutes: 0 },
  ArrowRight: { days: 1, minutes: 0 },
  ArrowUp: { days: 0, minutes: -60 },
  ArrowDown: { days: 0, minutes: 60 },
};

/**
 * The days with their slots by the hour. Arrow keys go from place to place, with Shift they select on the way, and with
 * Alt they move what is selected, as dragging does. Space selects.
 */
export function Calendar(view: CalendarView) {
  const { days, isGrid, mostLanes, chosen, opened, onOpen, onMove, onUnfold } = view;
  const slots = days.flatMap((day) => day.slots);
  /** The slots that a key or the pointer moves: those that are selected, or else the one that has it. */
  const movedWith = (id: number) => slots.filter((slot) => (chosen.has(id) ? chosen.has(slot.id) : slot.id === id));
  const close = () => {
    if (opened === 0) return chosen.clear();
    placeOfSlot(opened)?.focus();
    onOpen(0);
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const { key, shiftKey } = event;
    if (key === 'Escape') return close();
    const place = placeOf(event.target);
    if (place === null) return;
    const id = slotIdOf(place);
    const by = shifts[key];
    if (key === ' ' && event.target === place && id > 0) chosen.choose(id, shiftKey);
    else if (by === undefined) return;
    else if (!event.altKey) {
      const next = placeBeside(place, key);
      next?.focus();
      // The panel would hide what has the focus.
      if (opened !== 0) onOpen(slotIdOf(next));
      if (shiftKey) chosen.add([id, slotIdOf(next)].filter((each) => each > 0));
    } else if (id > 0) onMove(movedWith(id), by);
    event.preventDefault();
  };
  /** The slot that is dragged, from one hour to another. */
  const [drag, setDrag] = useState<{ readonly id: number; readonly from: string; readonly to: string | undefined }>();
  const startDrag = (event: DragEvent<HTMLElement>) => {
    const [id, from] = [slotIdOf(placeOf(event.target)), hourBelow(event)];
    if (id === 0 || from === undefined) return;
    event.dataTransfer.setData('text/plain', text.slot(id));
    setDrag({ id, from, to: from });
  };
  const dragTo = (event: DragEvent<HTMLElement>) => {
    const to = hourBelow(event);
    if (drag === undefined) return;
    if (to !== drag.to) setDrag({ ...drag, to });
    if (to === undefined) return;
    event.preventDefault();
    const by = { days: daysBetween(drag.from, to), minutes: minuteOf(to) - minuteOf(drag.from) };
    if (event.type === 'drop') onMove(movedWith(drag.id), by);
  };
  const lanes = days.flatMap(({ hours }) => hours.flatMap((hour) => hour.slots.map((placed) => placed.lanes)));
  const hours = days[0]?.hours ?? [];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are a shorter way to what the links and buttons in it do.
    <div
      className={isGrid ? 'week grid' : 'week'}
      style={{
        '--hours': hours.length,
        '--days': days.length,
        '--least': days.length === 1 ? Math.min(mostLanes, Math.max(0, ...lanes)) : 0,
      }}
      onKeyDown={press}
      onDragStart={startDrag}
      onDragOver={dragTo}
      onDrop={dragTo}
      onDragEnd={() => setDrag(undefined)}
    >
      {isGrid && <Axis hours={hours} onUnfold={onUnfold} />}
      {days.map((day) => (
        <section key={day.day} className="day" aria-label={day.name}>
          <DayHead {...{ view, day }} />
          <div className="hours">
            {day.hours.map(
              (hour) =>
                (isGrid || hour.slots.length > 0) && (
                  <HourCell key={hour.hour} {...{ view, day, hour }} isOver={drag?.to === hour.at} />
                ),
            )}
          </div>
        </section>
      ))}
    </div>
  );
}

/** The hours at the left. Those at the ends without slots are folded until they are pressed. */
function Axis({ hours, onUnfold }: { readonly hours: readonly Hour[]; onUnfold(): void }) {
  const [first = 0, last = 23] = [hours[0]?.hour, hours.at(-1)?.hour];
  const fold = (from: number, until: number) =>
    from < until && (
      <Button emphasis="quiet" aria-label={text.unfold(text.hours(from, until))} onPress={onUnfold}>
        {text.hours(from, until)}
      </Button>
    );
  return (
    <div className="axis">
      <div className="fold">{fold(0, first)}</div>
      {hours.map(({ at }) => (
        <span key={at} aria-hidden="true">
          {at.slice(11)}
        </span>
      ))}
      {fold(last + 1, 24)}
    </div>
  );
}

/** The head of a day: its date, which opens what is done with the day, and how much of it is booked. */
function DayHead({ view, day: { day, name, slots, hours } }: { readonly view: CalendarView; readonly day: Day }) {
  const today = view.timeNow.slice(0, 10);
  const counted = slots.filter(({ isActive, capacity }) => isActive && capacity !== undefined);
  const sum = (of: 'booked' | 'capacity') => counted.reduce((all, slot) => all + (slot[of] ?? 0), 0);
  const isEmpty = hours.every((hour) => hour.slots.length === 0);
  const select = { name: text.selectDay, run: () => view.chosen.only(slots.map(({ id }) => id)) };
  const sheets = { name: text.sheets, href: `/slots/sheets?day=${day}` };
  return (
    <header className={day === today ? 'today' : undefined}>
      <h2>
        <MoreMenu
          isOfPart
          label={text.dayActions(name)}
          icon={view.isGrid ? name.split(' ', 2).join(' ') : name}
          actions={[
            ...(day < today ? [] : [{ name: text.add, href: `/slots/new?day=${day}` }]),
            // A slot that goes on from the day before is chosen on that day.
            ...(slots.length === 0 ? [] : [select]),
            ...(isEmpty ? [] : [sheets]),
            { name: text.showDay, href: `/slots?span=day&day=${day}` },
          ]}
        />
      </h2>
      {day === today && <span className="visually-hidden">{words.today}</span>}
      <span className="detail one-line">
        {isEmpty && text.none}
        {counted.length > 0 && text.ofCapacity(sum('booked'), sum('capacity'))}{' '}
        {counted.length > 0 && <span className="visually-hidden">{words.fields.bookedAt.toLowerCase()}</span>}
      </span>
    </header>
  );
}
