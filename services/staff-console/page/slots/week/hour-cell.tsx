import { memo, Suspense, use, useState } from 'react';
import { Link } from 'react-router';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { withFilters } from '../../lists/filters.ts';
import { Button } from '../../ui/button.tsx';
import { InSight } from '../../ui/in-sight.tsx';
import { late } from '../../ui/pauses.ts';
import { words } from '../../words.ts';
import { type Hour, hourText, type Placed } from './days.ts';
import { OpenedContext } from './opened.ts';
import { SlotCard } from './slot-card.tsx';

const SlotPanel = late(async () => (await import('./slot-panel.tsx')).SlotPanel);

const text = words.slots;

export interface HourCellProps extends Hour {
  /** In Unix ms. */
  readonly now: number;
  readonly groups: ReadonlyMap<number, string>;
  readonly day: string;
  readonly nameOfDay: string;
  readonly isPast: boolean;
  /** Whether the day stands at the right. */
  readonly isAtEnd: boolean;
  /** Whether what is dragged is over it. */
  readonly isOver: boolean;
  /** Whether slots stand at their minutes side by side, or else one below the other. */
  readonly isGrid: boolean;
  readonly mostLanes: number;
  readonly isAlwaysDrawn: boolean;
  /** Asks where slots are moved to. */
  onAskMove(slots: readonly PlannedSlot[]): void;
}

/** The height of a slot's card in a list, and how many stand there at once. */
const [cardPx, shownAtOnce] = [60, 30];

/**
 * The slots of an hour, and a free place for another one. It is drawn again only if something in it changes: a choice,
 * or a further page of a large week, changes few of a hundred cells.
 */
export const HourCell = memo(function HourCell(props: HourCellProps) {
  const { day, nameOfDay, hour, slots, isPast, isGrid, mostLanes, isAlwaysDrawn, now, groups } = props;
  const [most, setMost] = useState(shownAtOnce);
  const time = hourText(hour);
  const shown = isGrid ? slots.filter((placed) => isInLane(placed, mostLanes)) : slots.slice(0, most);
  const more = slots.length - shown.length;
  const content = () => (
    <>
      {shown.length > 0 && (
        <ul className="plain">
          {shown.map(({ slot, minute, minutes, lane, lanes }) => (
            <SlotCard
              key={slot.id}
              {...{ slot, now, groups }}
              style={
                isGrid
                  ? { '--minute': minute, '--minutes': minutes, '--lane': lane, '--lanes': Math.min(lanes, mostLanes) }
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {more > 0 &&
        (isGrid ? (
          <Link
            className="more"
            data-place=""
            style={{ '--lane': mostLanes - 1, '--lanes': mostLanes }}
            to={`?${withFilters({ day, span: 'day', lanes: mostLanes > shownInWeek ? String(mostLanes + shownAtOnce) : '' })()}`}
            aria-label={text.moreAt(more, nameOfDay, time)}
          >
            +{more}
          </Link>
        ) : (
          <Button onPress={() => setMost(most + shownAtOnce)}>{text.showMore(more)}</Button>
        ))}
      {!isPast && isGrid && (
        <Link
          className="free"
          data-place=""
          tabIndex={-1}
          to={`/slots/new?at=${day}T${time}`}
          aria-label={text.addAt(nameOfDay, time)}
        >
          + {time}
        </Link>
      )}
    </>
  );
  return (
    <div className={props.isOver ? 'hour over' : 'hour'} data-hour={hour}>
      {slots.length === 0 ? (
        content()
      ) : (
        <InSight className="in-hour" estimatePx={shown.length * cardPx} isAlwaysDrawn={isAlwaysDrawn}>
          {content}
        </InSight>
      )}
      <OpenedPanel {...props} />
    </div>
  );
}, haveSame);

/** So many slots stand side by side in a week, and in a day before more of them are asked for. */
export const [shownInWeek, shownInDay] = [3, 8];

/** Whether a slot has its lane, or else is behind "+12" in the last one. */
const isInLane = ({ lane, lanes }: Placed, most: number) => lanes <= most || lane < most - 1;

/** The panel of the slot that is open, if it is one of these. The keyboard goes on to it from the slot. */
function OpenedPanel({ slots, now, groups, isAtEnd, onAskMove }: HourCellProps) {
  const { id } = use(OpenedContext);
  const slot = slots.find((placed) => placed.slot.id === id)?.slot;
  if (slot === undefined) return null;
  return (
    <Suspense>
      <SlotPanel {...{ slot, now, groups }} isAtStart={isAtEnd} onMove={() => onAskMove([slot])} />
    </Suspense>
  );
}

/** Whether a cell has the same props: its list is made anew of slots that stay the same. */
function haveSame(before: HourCellProps, after: HourCellProps): boolean {
  return isSame(before, after, 2);
}

/** Compares values, and lists and objects as many levels deep. */
function isSame(before: unknown, after: unknown, depth: number): boolean {
  if (Object.is(before, after) || depth < 0) return Object.is(before, after);
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return false;
  if (before instanceof Map || after instanceof Map) return false;
  const values = new Map<string, unknown>(Object.entries(before));
  const entries = Object.entries(after);
  return entries.length === values.size && entries.every(([name, value]) => isSame(values.get(name), value, depth - 1));
}
