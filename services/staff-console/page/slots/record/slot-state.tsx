import { timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { CircleAlert, CircleCheck, CircleOff, CircleSlash, History, Lock, Truck } from 'lucide-react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { formatDate, formatDay, formatTimeOfDay, timeLeft } from '../../business/time.tsx';
import { dateInput } from '../../business/time-input.ts';
import { Badge } from '../../ui/page.tsx';
import { counted, words } from '../../words.ts';
import './slots.css';

const text = words.slots;

type SlotTimes = Pick<Partial<PlannedSlot>, 'deliveryTime' | 'freezeTime'>;

/** The fields of a slot that decide its state. */
export interface SlotState extends SlotTimes, Pick<Partial<PlannedSlot>, 'windowMinutes' | 'capacity' | 'booked'> {
  readonly isActive: boolean;
  readonly isCapacityFull: boolean;
}

/** Formats when a slot is delivered, such as "Sat 28 Nov, 08:00 – 10:00"; without the day if `short`. */
export function slotTime(slot: Pick<PlannedSlot, 'deliveryTime' | 'windowMinutes'>, short = false): string {
  const { deliveryTime, windowMinutes = 0 } = slot;
  if (deliveryTime === undefined) return '';
  const start = timestampDate(deliveryTime);
  const from = short ? formatTimeOfDay(start) : formatDate(start);
  const end = new Date(start.getTime() + windowMinutes * 60_000);
  return windowMinutes === 0 ? from : `${from} – ${formatTimeOfDay(end)}`;
}

/** Formats when a slot is delivered on a day: one that began on the day before goes on, as "from Mon 23:00 – 02:00". */
export function slotTimeOn(day: string, slot: Pick<PlannedSlot, 'deliveryTime' | 'windowMinutes'>): string {
  const time = slotTime(slot, true);
  if (slot.deliveryTime === undefined) return time;
  const start = timestampDate(slot.deliveryTime);
  return dateInput(start) < day ? text.goesOn(formatDay(start).split(' ', 1).join(), time) : time;
}

/** Names a slot by its time, as soon as that is read. */
export function SlotName({ id }: { readonly id: number }) {
  const { data } = useQuery(SlotService.method.getSlotById, { id }, { staleTime: 60_000 });
  return data?.slot === undefined ? text.slot(id) : slotTime(data.slot);
}

/** Warns that the time of a booked slot has passed, so that the order may have been delivered. */
export function PastSlot({ id, now }: { readonly id: number; readonly now: number }) {
  const { data } = useQuery(SlotService.method.getSlotById, { id }, { staleTime: 60_000 });
  const at = data?.slot?.deliveryTime;
  return at !== undefined && timestampMs(at) < now && <p className="concerns">{text.passed}</p>;
}

const looks = {
  open: ['good', CircleCheck],
  nearly: ['warn', CircleAlert],
  full: ['bad', CircleSlash],
  closed: ['plain', Lock],
  delivering: ['good', Truck],
  past: ['plain', History],
  deactivated: ['plain', CircleOff],
} as const;

/** Open is active, not full, and takes orders (design 4 and 15); full is marked so, or booked up. */
export function stateOf(slot: SlotState, now: number): keyof typeof looks {
  const { isActive, deliveryTime, windowMinutes = 0, isCapacityFull, capacity, booked = 0 } = slot;
  if (!isActive) return 'deactivated';
  const left = deliveryTime === undefined ? Number.NaN : timestampMs(deliveryTime) - now;
  if (ordersClose(slot, now) === undefined)
    return left >= 0 ? 'closed' : left + windowMinutes * 60_000 > 0 ? 'delivering' : 'past';
  if (isCapacityFull) return 'full';
  return capacity === undefined ? 'open' : fillOf(booked, capacity);
}

/** Tells how full a slot is by its bookings. Nearly full: a tenth or less is left. */
function fillOf(booked: number, capacity: number): 'open' | 'nearly' | 'full' {
  if (booked >= capacity) return 'full';
  return capacity - booked <= capacity / 10 ? 'nearly' : 'open';
}

/** Shows the state of a slot in a word. */
export function SlotBadge({ slot, now }: { readonly slot: SlotState; readonly now: number }) {
  const state = stateOf(slot, now);
  return <Badge kind={looks[state][0]}>{text.states[state]}</Badge>;
}

/** Shows the state of a slot as an icon, with its word for screen readers. */
export function SlotIcon({ state }: { readonly state: keyof typeof looks }) {
  const Icon = looks[state][1];
  return (
    <>
      <Icon aria-hidden="true" style={{ inlineSize: 12, blockSize: 12, verticalAlign: -2 }} />
      <span className="visually-hidden">{text.states[state]}</span>
    </>
  );
}

interface CapacityBarProps {
  /** The units of live bookings, held ones among them. */
  readonly booked: number;
  readonly held?: number;
  readonly capacity: number;
}

/** Shows how much of a capacity is booked, as a thin bar with its words for screen readers. */
export function CapacityBar({ booked, held = 0, capacity }: CapacityBarProps) {
  const share = (units: number) => `${Math.min(100, (100 * units) / capacity)}%`;
  return (
    <span
      className={`capacity-bar ${fillOf(booked, capacity)}`}
      role="img"
      aria-label={text.booked(booked, capacity, held)}
    >
      <span style={{ inlineSize: share(booked) }} />
      <span style={{ inlineSize: share(booked - held) }} />
    </span>
  );
}

/** Returns when a slot stops taking orders, in Unix ms: at its freeze time, or at its delivery if that is sooner. */
export function closesAt({ deliveryTime, freezeTime }: SlotTimes): number {
  return Math.min(...[deliveryTime, freezeTime].map((at) => (at === undefined ? 0 : timestampMs(at))));
}

/** Returns how long a slot still takes orders; undefined when they have closed. */
export const ordersClose = (slot: SlotTimes, now: number) => timeLeft(closesAt(slot), now);

/** Says how long a slot still takes orders. */
export function describeEnd(slot: SlotState, now: number): string {
  const left = ordersClose(slot, now);
  if (left === undefined) return text.ordersClosed;
  return stateOf(slot, now) === 'full' ? text.takesNone : text.ordersCloseIn(left);
}

/** Counts slots, such as "1 slot" or "3 slots". */
export const slotsInWords = (count: number) => counted(count, 'slots');

/** Says what becomes of slots that customers have booked; nothing if none has. */
export function bookedConcerns(slots: readonly PlannedSlot[], concern: (slots: string) => string): string[] {
  const count = slots.filter(({ booked = 0 }) => booked > 0).length;
  return count === 0 ? [] : [concern(slotsInWords(count))];
}
