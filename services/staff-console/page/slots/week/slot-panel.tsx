import { useQuery } from '@connectrpc/connect-query';
import { X } from 'lucide-react';
import { use } from 'react';
import { Link } from 'react-router';
import { SlotBookingService, SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { Time } from '../../business/time.tsx';
import { groupNames } from '../../lookup/names.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Facts } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { PlanButtons } from '../bulk/slot-actions.tsx';
import { CapacityBar } from '../record/capacity-bar.tsx';
import { CapacityButton } from '../record/capacity-button.tsx';
import { describeEnd, SlotBadge } from '../record/slot-state.tsx';
import { slotTime } from '../record/slot-time.ts';
import { OpenedContext } from './opened.ts';
import { describeProducts } from './slot-card.tsx';

const text = words.slots;
const live = [SlotBookingState.HELD, SlotBookingState.BOOKED];

interface SlotPanelProps {
  readonly slot: PlannedSlot;
  /** In Unix ms. */
  readonly now: number;
  readonly groups: ReadonlyMap<number, string>;
  /** Whether it stands at the left, because the slot is at the right. */
  readonly isAtStart: boolean;
  onMove(): void;
}

/** A slot beside the calendar: its facts, its bookings, and what is done with it most. */
export function SlotPanel({ slot, now, groups, isAtStart, onMove }: SlotPanelProps) {
  const { id, capacity, booked = 0 } = slot;
  const { open } = use(OpenedContext);
  const { data, error } = useQuery(SlotBookingService.method.listBookings, {
    ...{ slotId: id, states: live },
    ...{ limit: 1_000, withTotal: true },
  });
  const held = data?.bookings.filter(({ state }) => state === SlotBookingState.HELD) ?? [];
  return (
    <aside
      className="slot-panel popover dialog"
      style={isAtStart ? { insetInlineEnd: '45vw' } : {}}
      data-panel={id}
      aria-label={text.slot(id)}
    >
      <header className="section-header">
        <h2>
          <Link to={`/slots/${id}`}>{slotTime(slot)}</Link>
        </h2>
        <div className="actions">
          <Button emphasis="quiet" aria-label={words.close} onPress={() => open(undefined)}>
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
          <CapacityBar {...{ booked, capacity }} held={held.reduce((sum, { units }) => sum + units, 0)} />
        </div>
      )}
      <Facts
        rows={[
          [text.ordersClose, <Time key="freeze" at={slot.freezeTime} />],
          [text.groups, groupNames(groups, slot.groupIds)],
          [text.productsTitle, describeProducts(slot)],
          [
            text.bookings,
            error === null
              ? data && (
                  <Link key="bookings" to={`/slots/${id}`}>
                    {data.total}
                  </Link>
                )
              : text.unread,
          ],
        ]}
      />
      <div className="actions">
        <CapacityButton slot={slot} now={now} />
        <ButtonLink href={`/slots/${id}`}>{text.openPage}</ButtonLink>
        <PlanButtons slots={[slot]} now={now} onMove={onMove} />
      </div>
    </aside>
  );
}
