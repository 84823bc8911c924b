import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { ReactNode } from 'react';
import { timeLeft } from '../../business/time.tsx';
import { Badge } from '../../ui/page.tsx';

/** The fields of a slot that decide its state. */
export interface SlotState {
  readonly isActive: boolean;
  readonly isCapacityFull: boolean;
  readonly freezeTime?: Timestamp | undefined;
  readonly deliveryTime?: Timestamp | undefined;
}

/** The states of a slot, each with its word. */
export const slotStates = {
  open: 'Open',
  full: 'Full',
  closed: 'Closed',
  past: 'Past',
  deactivated: 'Deactivated',
} as const;

/**
 * Returns the state of a slot at a time in Unix ms. Open means active, not full, and before its freeze time (design 4).
 * A closed one is still to be delivered.
 */
export function stateOf(slot: SlotState, now: number): keyof typeof slotStates {
  if (!slot.isActive) return 'deactivated';
  if (ordersClose(slot, now) === undefined) return isPast(slot, now) ? 'past' : 'closed';
  return slot.isCapacityFull ? 'full' : 'open';
}

const kinds = { open: 'good', full: 'bad', closed: 'plain', past: 'plain', deactivated: 'plain' } as const;

/** Shows the state of a slot in a word. */
export function SlotBadge({ slot, now }: { readonly slot: SlotState; readonly now: number }): ReactNode {
  const state = stateOf(slot, now);
  return <Badge kind={kinds[state]}>{slotStates[state]}</Badge>;
}

/** Says how long a slot still takes orders. */
export function describeEnd(slot: SlotState, now: number): string {
  const left = ordersClose(slot, now);
  if (left !== undefined && slot.isCapacityFull) return 'Takes no orders';
  return left === undefined ? 'Orders closed' : `Orders close in ${left}`;
}

function isPast({ deliveryTime }: SlotState, now: number): boolean {
  return deliveryTime === undefined || timestampMs(deliveryTime) < now;
}

/** Returns how long a slot still takes orders; undefined after its freeze time. */
export function ordersClose({ freezeTime }: SlotState, now: number): string | undefined {
  return freezeTime === undefined ? undefined : timeLeft(timestampMs(freezeTime), now);
}

/** Counts slots, such as "1 slot" or "3 slots". */
export const slotsInWords = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'slot' : 'slots'}`;
