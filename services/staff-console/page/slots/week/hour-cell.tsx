import { useState } from 'react';
import { Link } from 'react-router';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { withFilters } from '../../lists/filters.ts';
import { groupNames } from '../../lookup/names.ts';
import { Button } from '../../ui/button.tsx';
import { useInSight } from '../../ui/in-sight.tsx';
import { late } from '../../ui/pauses.tsx';
import { words } from '../../words.ts';
import { CapacityBar, SlotIcon, slotTime, slotTimeOn, stateOf } from '../record/slot-state.tsx';
import type { CalendarView, Day, Hour, Placed } from './days.ts';

declare module 'react' {
  interface CSSProperties {
    readonly [property: `--${string}`]: number | undefined;
  }
}

const SlotPanel = late(async () => (await import('./slot-panel.tsx')).SlotPanel);

const text = words.slots;

/** The views of the slots, by their paths. */
export const slotViews = [
  ['/slots', text.calendar],
  ['/slots/list', text.list],
] as const;

/** So many slots stand side by side in a week, and in a day before more of them are asked for. */
export const [shownInWeek, shownInDay] = [3, 8];
/** The height of a slot's card in a list, and how many stand there at once. */
const [cardPx, shownAtOnce] = [60, 30];

interface HourCellProps {
  readonly view: CalendarView;
  readonly day: Day;
  readonly hour: Hour;
  /** Whether what is dragged is over it. */
  readonly isOver: boolean;
}

/** The slots of an hour, a free place for another one, and beside them the slot that is open. */
export function HourCell({ view, day, hour: { hour, at, slots }, isOver }: HourCellProps) {
  const { timeNow, isGrid, mostLanes } = view;
  const [most, setMost] = useState(shownAtOnce);
  const time = at.slice(11);
  // What has no lane is behind "+12" in the last one.
  const shown = isGrid
    ? slots.filter(({ lane, lanes }) => lanes <= mostLanes || lane < mostLanes - 1)
    : slots.slice(0, most);
  const more = slots.length - shown.length;
  const lanes = mostLanes > shownInWeek ? String(mostLanes + shownAtOnce) : '';
  const opened = slots.find(({ slot, isGoingOn }) => slot.id === view.opened && !isGoingOn)?.slot;
  const { ref, isNear, heightPx } = useInSight<HTMLDivElement>(shown.length * cardPx);
  const isDrawn = isNear || view.isAlwaysDrawn || slots.length === 0;
  return (
    <div
      ref={ref}
      className={isOver ? 'hour over' : 'hour'}
      style={isDrawn || isGrid ? {} : { blockSize: heightPx }}
      data-hour={hour}
      data-at={at}
    >
      {isDrawn && shown.length > 0 && (
        <ul className="plain">
          {shown.map((placed) =>
            placed.isGoingOn ? (
              <GoingOnCard key={placed.slot.id} day={day.day} {...{ view, placed }} />
            ) : (
              <SlotCard key={placed.slot.id} {...{ view, placed }} />
            ),
          )}
        </ul>
      )}
      {isDrawn && isGrid && more > 0 && (
        <Link
          className="more"
          data-place=""
          style={{ '--lane': mostLanes - 1, '--lanes': mostLanes }}
          to={`?${withFilters({ day: day.day, span: 'day', lanes })()}`}
          aria-label={text.moreAt(more, day.name, time)}
        >
          +{more}
        </Link>
      )}
      {isDrawn && !isGrid && more > 0 && (
        <Button onPress={() => setMost(most + shownAtOnce)}>{text.showMore(more)}</Button>
      )}
      {isDrawn && isGrid && day.day >= timeNow.slice(0, 10) && (
        <Link
          className="free"
          data-place=""
          tabIndex={-1}
          to={`/slots/new?at=${at}`}
          aria-label={text.addAt(day.name, time)}
        >
          + {time}
        </Link>
      )}
      {isGrid && at.slice(0, 13) === timeNow.slice(0, 13) && (
        <div className="now" style={{ '--minute': Number(timeNow.slice(14, 16)), '--minutes': 5 }} />
      )}
      {opened !== undefined && (
        <SlotPanel key={opened.id} {...{ view, day }} slot={opened} products={describeProducts(opened)} />
      )}
    </div>
  );
}

interface CardProps {
  readonly view: CalendarView;
  readonly placed: Placed;
}

const placeOf = ({ minute, minutes, lane, lanes }: Placed, { mostLanes }: CalendarView) => ({
  ...{ '--minute': minute, '--minutes': minutes, '--lane': lane, '--lanes': Math.min(lanes, mostLanes) },
});

/** The rest of a slot that began on the day before, until its window ends. It leads to the slot, which is chosen where it began. */
function GoingOnCard({ day, view, placed }: CardProps & { readonly day: string }) {
  const { slot } = placed;
  const state = stateOf(slot, view.now);
  return (
    <li className={`slot-card ${state}`} style={placeOf(placed, view)}>
      <Link to={`/slots/${slot.id}`}>
        <strong>{slotTimeOn(day, slot)}</strong>
        <p className="detail one-line">
          <SlotIcon state={state} />{' '}
          {slot.groupIds.length > 0 ? groupNames(view.groups, slot.groupIds) : describeProducts(slot)}
        </p>
        <span className="visually-hidden"> {text.slot(slot.id)}</span>
      </Link>
    </li>
  );
}

/** A slot in the calendar: its time, how much of it is booked, its state, and its groups or else its products. */
function SlotCard({ view, placed }: CardProps) {
  const { slot } = placed;
  const { now, groups, chosen, opened, onOpen } = view;
  const { id, capacity, booked = 0, groupIds } = slot;
  const state = stateOf(slot, now);
  const [start, end] = slotTime(slot, true).split(' – ');
  return (
    <li className={`slot-card ${state} ${opened === id ? 'opened' : ''}`} draggable style={placeOf(placed, view)}>
      <Link
        to={`/slots/${id}`}
        data-place={id}
        draggable={false}
        onClick={(event) => {
          if (opened === id || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          onOpen(id);
        }}
      >
        <strong>
          {start}
          {end !== undefined && <span className="until"> – {end}</span>}
        </strong>
        {capacity !== undefined && (
          <>
            <span aria-hidden="true">{` ${booked}/${capacity}`}</span>
            <CapacityBar booked={booked} capacity={capacity} />
          </>
        )}
        <p className="detail one-line">
          <SlotIcon state={state} /> {groupIds.length > 0 ? groupNames(groups, groupIds) : describeProducts(slot)}
        </p>
        <span className="visually-hidden"> {text.slot(id)}</span>
      </Link>
      {/* With the keyboard, Space selects. */}
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={words.lists.select(text.slot(id))}
        checked={chosen.has(id)}
        onClick={({ shiftKey }) => chosen.choose(id, shiftKey)}
        readOnly
      />
    </li>
  );
}

/** Says how many products a slot has, and names the first ones. */
export function describeProducts({ productCount, productNames }: PlannedSlot): string {
  return productCount === 0 ? text.noProducts : text.products(productCount, productNames.join(', '));
}
