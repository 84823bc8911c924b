import { Suspense, useState } from 'react';
import { Link } from 'react-router';
import { withFilters } from '../../lists/filters.ts';
import { Button } from '../../ui/button.tsx';
import { useInSight } from '../../ui/in-sight.tsx';
import { late } from '../../ui/pauses.ts';
import { words } from '../../words.ts';
import type { Day, Hour } from './days.ts';
import { type CalendarView, SlotCard } from './slot-card.tsx';

const SlotPanel = late(async () => (await import('./slot-panel.tsx')).SlotPanel);

const text = words.slots;

/** So many slots stand side by side in a week, and in a day before more of them are asked for. */
export const [shownInWeek, shownInDay] = [3, 8];
/** The height of a slot's card in a list, and how many stand there at once. */
const [cardPx, shownAtOnce] = [60, 30];

interface HourCellProps {
  readonly view: CalendarView;
  readonly day: Day;
  readonly hour: Hour;
  /** Whether the day stands at the right. */
  readonly isAtEnd: boolean;
  /** Whether what is dragged is over it. */
  readonly isOver: boolean;
}

/** The slots of an hour, a free place for another one, and beside them the slot that is open. */
export function HourCell({ view, day: { day, name }, hour: { hour, at, slots }, isAtEnd, isOver }: HourCellProps) {
  const { timeNow, isGrid, mostLanes } = view;
  const [most, setMost] = useState(shownAtOnce);
  const time = at.slice(11);
  // What has no lane is behind "+12" in the last one.
  const shown = isGrid
    ? slots.filter(({ lane, lanes }) => lanes <= mostLanes || lane < mostLanes - 1)
    : slots.slice(0, most);
  const more = slots.length - shown.length;
  const lanes = mostLanes > shownInWeek ? String(mostLanes + shownAtOnce) : '';
  const opened = slots.find(({ slot }) => slot.id === view.opened)?.slot;
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
          {shown.map((placed) => (
            <SlotCard key={placed.slot.id} {...{ view, placed }} />
          ))}
        </ul>
      )}
      {isDrawn && isGrid && more > 0 && (
        <Link
          className="more"
          data-place=""
          style={{ '--lane': mostLanes - 1, '--lanes': mostLanes }}
          to={`?${withFilters({ day, span: 'day', lanes })()}`}
          aria-label={text.moreAt(more, name, time)}
        >
          +{more}
        </Link>
      )}
      {isDrawn && !isGrid && more > 0 && (
        <Button onPress={() => setMost(most + shownAtOnce)}>{text.showMore(more)}</Button>
      )}
      {isDrawn && isGrid && day >= timeNow.slice(0, 10) && (
        <Link
          className="free"
          data-place=""
          tabIndex={-1}
          to={`/slots/new?at=${at}`}
          aria-label={text.addAt(name, time)}
        >
          + {time}
        </Link>
      )}
      {isGrid && at.slice(0, 13) === timeNow.slice(0, 13) && (
        <div className="now" style={{ '--minute': Number(timeNow.slice(14, 16)), '--minutes': 5 }} />
      )}
      {opened !== undefined && (
        <Suspense>
          <SlotPanel key={opened.id} {...{ view, isAtEnd }} slot={opened} />
        </Suspense>
      )}
    </div>
  );
}
