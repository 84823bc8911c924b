import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { shiftDay, timeInput } from '../../business/time-input.ts';

/** An hour of a day, with its slots by delivery time. */
export interface Hour {
  /** 0 to 23. */
  readonly hour: number;
  readonly slots: readonly PlannedSlot[];
}

/** A day of the calendar. */
export interface Day {
  /** Such as 2026-11-23. */
  readonly day: string;
  /** The same hours for all days. */
  readonly hours: readonly Hour[];
  readonly slots: readonly PlannedSlot[];
}

// The hours that are always on show.
const [firstHour, lastHour] = [6, 21];

/** Returns days from a first one on, with their slots by the hour of the business's time zone. */
export function toDays(slots: readonly PlannedSlot[], first: string, count: number): readonly Day[] {
  const days = new Map(
    Array.from({ length: count }, (_, index) => [shiftDay(first, index), new Map<number, PlannedSlot[]>()]),
  );
  let [from, until] = [firstHour, lastHour];
  for (const slot of slots) {
    const local = slot.deliveryTime === undefined ? '' : timeInput(timestampDate(slot.deliveryTime));
    const hour = Number(local.slice(11, 13));
    const ofDay = days.get(local.slice(0, 10));
    if (ofDay === undefined) continue;
    ofDay.set(hour, [...(ofDay.get(hour) ?? []), slot]);
    [from, until] = [Math.min(from, hour), Math.max(until, hour)];
  }
  return [...days].map(([day, ofDay]) => {
    const hours = Array.from({ length: until - from + 1 }, (_, index) => {
      return { hour: from + index, slots: ofDay.get(from + index) ?? [] };
    });
    return { day, hours, slots: hours.flatMap((each) => each.slots) };
  });
}

/** Formats an hour as a time of day, such as "09:00". */
export const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
