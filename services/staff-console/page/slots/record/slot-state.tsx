import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { CircleAlert, CircleCheck, CircleOff, CircleSlash, History, Lock } from 'lucide-react';
import { timeLeft } from '../../business/time.tsx';
import { Badge } from '../../ui/page.tsx';
import { counted, words } from '../../words.ts';
import { fillOf } from './capacity-bar.tsx';

const text = words.slots;

/** The fields of a slot that decide its state. */
export interface SlotState {
  readonly isActive: boolean;
  readonly isCapacityFull: boolean;
  readonly freezeTime?: Timestamp | undefined;
  readonly deliveryTime?: Timestamp | undefined;
  readonly capacity?: number | undefined;
  readonly booked?: number | undefined;
}

/** The states of a slot, each with its word. */
export const slotStates = text.states;

const looks = {
  open: ['good', CircleCheck],
  nearly: ['warn', CircleAlert],
  full: ['bad', CircleSlash],
  closed: ['plain', Lock],
  past: ['plain', History],
  deactivated: ['plain', CircleOff],
} as const;

/**
 * Returns the state of a slot at a time in Unix ms. Open means active, not full, and before its freeze time (design 4);
 * full is what staff marked so, or what is booked up (design 15). A closed one is still to be delivered.
 */
export function stateOf(slot: SlotState, now: number): keyof typeof slotStates {
  if (!slot.isActive) return 'deactivated';
  if (ordersClose(slot, now) === undefined) return isPast(slot, now) ? 'past' : 'closed';
  if (slot.isCapacityFull) return 'full';
  return slot.capacity === undefined ? 'open' : fillOf(slot.booked ?? 0, slot.capacity);
}

/** Shows the state of a slot in a word. */
export function SlotBadge({ slot, now }: { readonly slot: SlotState; readonly now: number }) {
  const state = stateOf(slot, now);
  return <Badge kind={looks[state][0]}>{slotStates[state]}</Badge>;
}

/** Shows the state of a slot as an icon, with its word for screen readers. */
export function SlotIcon({ state }: { readonly state: keyof typeof slotStates }) {
  const Icon = looks[state][1];
  return (
    <>
      <Icon aria-hidden="true" style={{ inlineSize: 12, blockSize: 12, verticalAlign: -2 }} />
      <span className="visually-hidden">{slotStates[state]}</span>
    </>
  );
}

/** Says how long a slot still takes orders. */
export function describeEnd(slot: SlotState, now: number): string {
  const left = ordersClose(slot, now);
  if (left === undefined) return text.ordersClosed;
  return stateOf(slot, now) === 'full' ? text.takesNone : text.ordersCloseIn(left);
}

function isPast({ deliveryTime }: SlotState, now: number): boolean {
  return deliveryTime === undefined || timestampMs(deliveryTime) < now;
}

/** Returns how long a slot still takes orders; undefined after its freeze time. */
export function ordersClose({ freezeTime }: SlotState, now: number): string | undefined {
  return freezeTime === undefined ? undefined : timeLeft(timestampMs(freezeTime), now);
}

/** Counts slots, such as "1 slot" or "3 slots". */
export const slotsInWords = (count: number) => counted(count, 'slots');
