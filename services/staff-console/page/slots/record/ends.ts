import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { fromTimeInput } from '../../business/time-input.ts';

/** The longest window that a slot can have. */
const longestMs = 1_440 * 60_000;

/** Returns when the window of a slot ends, in Unix ms. */
export const endsAt = ({ deliveryTime, windowMinutes = 0 }: Partial<PlannedSlot>) =>
  deliveryTime === undefined ? Number.NaN : timestampMs(deliveryTime) + windowMinutes * 60_000;

/** Returns the `delivery_from` with which ListSlots finds the slots that begin on a day or later, and those that still go on. */
export const reachingBack = (day: string) =>
  new Date(Date.parse(fromTimeInput(`${day}T00:00`)) - longestMs).toISOString();

/** Returns whether a slot begins on a day or later, or still goes on then. */
export function isOnFrom(day: string): (slot: PlannedSlot) => boolean {
  const fromMs = Date.parse(fromTimeInput(`${day}T00:00`));
  return (slot) => endsAt({ ...slot, windowMinutes: 0 }) >= fromMs || endsAt(slot) > fromMs;
}
