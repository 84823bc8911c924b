import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { readTimeInput, shiftDay, timeInput } from '../../business/time-input.ts';

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
  const days = Array.from({ length: count }, (_, index) => shiftDay(first, index));
  const used = new Map(days.map((day) => [day, new Map<number, PlannedSlot[]>()]));
  const timeOf = localTimes([...days, shiftDay(first, count)]);
  let [from, until] = [firstHour, lastHour];
  for (const slot of slots) {
    const { day = '', hour = 0 } = timeOf(slot.deliveryTime === undefined ? 0 : timestampMs(slot.deliveryTime)) ?? {};
    const ofDay = used.get(day);
    if (ofDay === undefined) continue;
    const ofHour = ofDay.get(hour);
    if (ofHour === undefined) ofDay.set(hour, [slot]);
    else ofHour.push(slot);
    [from, until] = [Math.min(from, hour), Math.max(until, hour)];
  }
  return days.map((day) => {
    const hours = Array.from({ length: until - from + 1 }, (_, index) => {
      return { hour: from + index, slots: used.get(day)?.get(from + index) ?? [] };
    });
    return { day, hours, slots: hours.flatMap((each) => each.slots) };
  });
}

/**
 * Returns a function that gives the day and the hour of a time in Unix ms. It looks at the time zone once a day: for each
 * of a thousand slots it would take a phone half a second.
 *
 * @param days one after the other, the last one excluded.
 */
function localTimes(days: readonly string[]) {
  const starts = days.map((day) => readTimeInput(`${day}T00:00`)?.getTime() ?? Number.NaN);
  return (ms: number) => {
    const index = starts.findLastIndex((start) => start <= ms);
    const [start, end] = [starts[index], starts[index + 1]];
    if (start === undefined || end === undefined) return undefined;
    const clocksChange = end - start !== 24 * hourMs;
    const hour = clocksChange ? Number(timeInput(new Date(ms)).slice(11, 13)) : Math.floor((ms - start) / hourMs);
    return { day: days[index], hour };
  };
}

const hourMs = 3_600_000;

/** Formats an hour as a time of day, such as "09:00". */
export const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
