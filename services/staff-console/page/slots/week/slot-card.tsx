import { type CSSProperties, use } from 'react';
import { Link } from 'react-router';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { ChosenContext } from '../../lists/selection.tsx';
import { groupNames } from '../../lookup/names.ts';
import { words } from '../../words.ts';
import { CapacityBar } from '../record/capacity-bar.tsx';
import { SlotIcon, stateOf } from '../record/slot-state.tsx';
import { slotTime } from '../record/slot-time.ts';
import { OpenedContext } from './opened.ts';

const text = words.slots;

/** The views of the slots, by their paths. */
export const slotViews = [
  ['/slots', text.calendar],
  ['/slots/list', text.list],
] as const;

interface SlotCardProps {
  readonly slot: PlannedSlot;
  /** In Unix ms. */
  readonly now: number;
  readonly groups: ReadonlyMap<number, string>;
  /** Where it stands in its hour. */
  readonly style?: CSSProperties | undefined;
}

/** A slot in the calendar: its time, how much of it is booked, its state, and its groups or else its products. */
export function SlotCard({ slot, now, groups, style }: SlotCardProps) {
  const { id, capacity, booked = 0, groupIds } = slot;
  const { id: opened, open } = use(OpenedContext);
  const state = stateOf(slot, now);
  const [start, end] = slotTime(slot, true).split(' – ');
  return (
    <li className={`slot-card ${state} ${opened === id ? 'opened' : ''}`} draggable style={style}>
      <Link
        to={`/slots/${id}`}
        data-place={id}
        draggable={false}
        onClick={(event) => {
          if (opened === id || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          open(id);
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
      <ChooseBox id={id} />
    </li>
  );
}

/** Selects a slot or, with Shift, all slots from the one that was selected last. With the keyboard, Space does. */
function ChooseBox({ id }: { readonly id: number }) {
  const chosen = use(ChosenContext);
  return (
    <input
      type="checkbox"
      tabIndex={-1}
      aria-label={words.lists.select(text.slot(id))}
      checked={chosen.has(id)}
      onClick={({ shiftKey }) => chosen.choose(id, shiftKey)}
      readOnly
    />
  );
}

/** Says how many products a slot has, and names the first ones. */
export function describeProducts({ productCount, productNames }: PlannedSlot): string {
  return productCount === 0 ? text.noProducts : text.products(productCount, productNames.join(', '));
}
