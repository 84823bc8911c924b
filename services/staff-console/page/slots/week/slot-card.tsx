import { Link } from 'react-router';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import type { Chosen } from '../../lists/selection.tsx';
import { groupNames } from '../../lookup/names.ts';
import { words } from '../../words.ts';
import { CapacityBar } from '../record/capacity-bar.tsx';
import { SlotIcon, stateOf } from '../record/slot-state.tsx';
import { slotTime } from '../record/slot-time.ts';
import type { Placed } from './days.ts';

declare module 'react' {
  interface CSSProperties {
    /** What the styles of the calendar compute places from. */
    readonly [property: `--${string}`]: number | undefined;
  }
}

const text = words.slots;

/** The views of the slots, by their paths. */
export const slotViews = [
  ['/slots', text.calendar],
  ['/slots/list', text.list],
] as const;

/** What all parts of the calendar need. */
export interface CalendarView {
  readonly now: number;
  /** Now by the wall clock, such as 2026-11-23T09:30. */
  readonly timeNow: string;
  readonly groups: ReadonlyMap<number, string>;
  /** Whether days stand side by side, with the hours at the left. Else one follows the other, with its slots only. */
  readonly isGrid: boolean;
  readonly isAlwaysDrawn: boolean;
  /** How many slots stand side by side at most. */
  readonly mostLanes: number;
  readonly chosen: Chosen;
  /** The slot in the panel; 0 for none. */
  readonly opened: number;
  onOpen(id: number): void;
  /** Asks where slots are moved to. */
  onAskMove(slots: readonly PlannedSlot[]): void;
}

/** A slot in the calendar: its time, how much of it is booked, its state, and its groups or else its products. */
export function SlotCard({ view, placed }: { readonly view: CalendarView; readonly placed: Placed }) {
  const { slot, minute, minutes, lane, lanes } = placed;
  const { now, groups, mostLanes, chosen, opened, onOpen } = view;
  const { id, capacity, booked = 0, groupIds } = slot;
  const state = stateOf(slot, now);
  const [start, end] = slotTime(slot, true).split(' – ');
  return (
    <li
      className={`slot-card ${state} ${opened === id ? 'opened' : ''}`}
      draggable
      style={{ '--minute': minute, '--minutes': minutes, '--lane': lane, '--lanes': Math.min(lanes, mostLanes) }}
    >
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
            <span aria-hidden="true">
              {' '}
              {booked}/{capacity}
            </span>
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
