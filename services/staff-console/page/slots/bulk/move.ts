import { type Timestamp, timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { moveMoment } from '../../business/time-input.ts';
import { words } from '../../words.ts';
import { planOf } from '../record/draft.ts';
import { bookedConcerns, slotsInWords } from '../record/slot-state.tsx';

/** By how much slots are moved: by days of the wall clock, then by minutes that pass. */
export interface Shift {
  readonly days: number;
  readonly minutes: number;
}

/** A slot before and after a move. */
export interface Move {
  readonly before: PlannedSlot;
  readonly after: PlannedSlot;
}

/** Returns the moves of slots, with which "orders close" moves along; none by nothing. */
export function movesBy(slots: readonly PlannedSlot[], by: Shift): readonly Move[] {
  if (by.days === 0 && by.minutes === 0) return [];
  const move = (at: Timestamp | undefined) => at && timestampFromDate(new Date(moveMoment(at, by)));
  return slots.map((slot) => ({
    before: slot,
    after: { ...slot, deliveryTime: move(slot.deliveryTime), freezeTime: move(slot.freezeTime) },
  }));
}

/** Returns where slots are after moves. Deactivated ones take no time. */
export const plansAfter = (moves: readonly Move[]) =>
  moves.flatMap(({ after }) => (after.isActive ? [planOf(after)] : []));

type Delivered = Pick<PlannedSlot, 'deliveryTime'> | undefined;

/** Returns when a slot is delivered, in Unix ms. */
export const deliveryMs = (slot: Delivered) => (slot?.deliveryTime ? timestampMs(slot.deliveryTime) : Number.NaN);

/** Says that slots would be delivered in the past, at a time in Unix ms. */
export function lateConcerns(slots: readonly Delivered[], now: number): string[] {
  const late = slots.filter((slot) => deliveryMs(slot) < now).length;
  return late === 0 ? [] : [words.slots.late(slotsInWords(late))];
}

/** Says whether moves lead into the past, and whether customers have booked what is moved. */
export function moveConcerns(moves: readonly Move[], now: number): string[] {
  const moved = moves.flatMap(({ before, after }) => (deliveryMs(before) < now ? [] : after));
  return [
    ...lateConcerns(moved, now),
    ...bookedConcerns(
      moves.map(({ before }) => before),
      words.slots.movesBooked,
    ),
  ];
}

/** Counts the days between two texts that begin with a day, such as 2026-11-23; `NaN` if one does not. */
export const daysBetween = (from: string, to: string) =>
  (Date.parse(to.slice(0, 10)) - Date.parse(from.slice(0, 10))) / 86_400_000;
