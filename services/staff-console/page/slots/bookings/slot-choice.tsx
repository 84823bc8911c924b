import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { parseDate } from '@internationalized/date';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Calendar, CalendarCell, CalendarGrid, CalendarHeading } from 'react-aria-components/Calendar';
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { Label } from 'react-aria-components/Label';
import { Radio, RadioGroup } from 'react-aria-components/RadioGroup';
import { type PlannedSlot, SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { formatDay, useNow } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { groupNames, useGroups } from '../../lookup/names.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { words } from '../../words.ts';
import { CapacityBar } from '../record/capacity-bar.tsx';
import { slotTime } from '../record/slot-time.ts';

const text = words.slot.move;

interface SlotChoiceProps {
  /** Such as 2026-11-28. */
  readonly day: string;
  onDay(day: string): void;
  /** The units that the slot needs room for. */
  readonly units: number;
  /** The slot that is not offered. */
  readonly current: number;
  readonly chosen: number | undefined;
  onChoose(slotId: number): void;
}

/** A choice of a slot with room: a small calendar, and beside it the slots of the day. */
export function SlotChoice({ day, onDay, units, current, chosen, onChoose }: SlotChoiceProps) {
  const now = useNow(20_000);
  const groups = useGroups();
  const request = {
    deliveryFrom: fromTimeInput(`${day}T00:00`),
    deliveryUntil: fromTimeInput(`${shiftDay(day, 1)}T00:00`),
    limit: 1_000,
  };
  const query = useQuery(SlotPlanService.method.listSlots, request);
  const name = formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
  return (
    <div className="slot-choice">
      <I18nProvider locale="en-GB">
        <Calendar
          className="month"
          aria-label={text.day}
          minValue={parseDate(dateInput(new Date(now)))}
          value={parseDate(day)}
          onChange={(date) => onDay(date.toString())}
        >
          <header className="section-header">
            <CalendarHeading />
            <div className="actions">
              <Button slot="previous" emphasis="quiet">
                <ChevronLeft />
              </Button>
              <Button slot="next" emphasis="quiet">
                <ChevronRight />
              </Button>
            </div>
          </header>
          <CalendarGrid>{(date) => <CalendarCell date={date} className="button quiet" />}</CalendarGrid>
        </Calendar>
      </I18nProvider>
      <RadioGroup
        className="choice"
        value={chosen === undefined ? null : String(chosen)}
        onChange={(id) => onChoose(Number(id))}
      >
        <Label>{text.slots(name)}</Label>
        <Read query={{ ...query, data: query.data?.slots }} what={words.slots.theSlots}>
          {(slots) => (
            <div className="options">
              {slots.length === 0 && <Empty>{text.none}</Empty>}
              {slots.map((slot) => {
                const { isOpen, room } = roomOf(slot, units, now);
                return (
                  <Radio
                    key={slot.id}
                    value={String(slot.id)}
                    isDisabled={!isOpen || slot.id === current}
                    className="option"
                  >
                    <div>
                      {slotTime(slot, true)}
                      <div className="detail">{groupNames(groups, slot.groupIds)}</div>
                    </div>
                    <div className="room">
                      {slot.id === current ? text.here : room}
                      {slot.capacity !== undefined && (
                        <CapacityBar booked={slot.booked ?? 0} capacity={slot.capacity} />
                      )}
                    </div>
                  </Radio>
                );
              })}
            </div>
          )}
        </Read>
      </RadioGroup>
    </div>
  );
}

/** Says whether a slot takes an order of some units at a time in Unix ms, and how much more it takes. */
function roomOf(
  { deliveryTime, freezeTime, isCapacityFull, capacity, booked = 0 }: PlannedSlot,
  units: number,
  now: number,
) {
  const closes = Math.min(...[deliveryTime, freezeTime].map((at) => (at === undefined ? 0 : timestampMs(at))));
  if (closes <= now) return { isOpen: false, room: words.slots.ordersClosed };
  const left = Math.max(0, (capacity ?? Number.POSITIVE_INFINITY) - booked);
  if (isCapacityFull || left === 0) return { isOpen: false, room: words.slots.states.full };
  return { isOpen: left >= units, room: capacity === undefined ? text.noLimit : text.left(left) };
}
