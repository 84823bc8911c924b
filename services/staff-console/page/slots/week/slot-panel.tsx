import { X } from 'lucide-react';
import { Link } from 'react-router';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { Time } from '../../business/time.tsx';
import { groupNames } from '../../lookup/names.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Facts } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { useLiveBookings } from '../bookings/live-bookings.ts';
import { PlanButtons } from '../bulk/slot-actions.tsx';
import { CapacityBar, describeEnd, SlotBadge, slotTime } from '../record/slot-state.tsx';
import { CapacityButton } from '../record/update-slots.tsx';
import type { CalendarView, Day } from './days.ts';

const text = words.slots;

interface SlotPanelProps {
  readonly view: CalendarView;
  readonly day: Day;
  readonly slot: PlannedSlot;
  readonly products: string;
}

/** A slot beside the calendar: its facts, its bookings, and what is done with it most. */
export function SlotPanel({ view, day, slot, products }: SlotPanelProps) {
  const { days, now, isGrid, onOpen, onAskMove } = view;
  const { id, capacity, booked = 0 } = slot;
  const { bookings, held, isCounting, error } = useLiveBookings(id);
  const path = `/slots/${id}`;
  const count = isCounting ? undefined : <Link to={path}>{bookings.length}</Link>;
  return (
    <aside
      className="slot-panel popover dialog"
      // At the left of a slot that is at the right.
      style={isGrid && days.indexOf(day) > 3 ? { insetInlineEnd: '45vw' } : {}}
      data-panel={id}
      aria-label={text.slot(id)}
    >
      <header className="section-header">
        <h2>
          <Link to={path}>{slotTime(slot)}</Link>
        </h2>
        <div className="actions">
          <Button emphasis="quiet" aria-label={words.close} onPress={() => onOpen(0)}>
            <X />
          </Button>
        </div>
      </header>
      <p>
        <SlotBadge slot={slot} now={now} /> <span className="detail">{describeEnd(slot, now)}</span>
      </p>
      {capacity !== undefined && (
        <div>
          <p>{text.booked(booked, capacity)}</p>
          <CapacityBar {...{ booked, held, capacity }} />
        </div>
      )}
      <Facts
        rows={[
          [words.fields.freezeTime, <Time key="freeze" at={slot.freezeTime} />],
          [words.fields.groupIds, groupNames(view.groups, slot.groupIds)],
          [words.fields.productIds, products],
          [text.bookings, error === null ? count : words.coupons.unknown],
        ]}
      />
      <div className="actions">
        <CapacityButton slot={slot} now={now} />
        <ButtonLink href={path}>{text.openPage}</ButtonLink>
        <PlanButtons slots={[slot]} now={now} onMove={() => onAskMove([slot])} />
      </div>
    </aside>
  );
}
