import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { shiftDay, timeInput } from '../../business/time-input.ts';

/** A slot with its place in the column of its day. */
export interface Placed {
  readonly slot: PlannedSlot;
  /** When it begins, in minutes of its hour, and how long it is drawn. */
  readonly minute: number;
  readonly minutes: number;
  /** Its lane, from 0, of so many beside each other. */
  readonly lane: number;
  readonly lanes: number;
}

/** An hour of a day, with its slots by delivery time. */
export interface Hour {
  /** 0 to 23. */
  readonly hour: number;
  /** When it begins, such as 2026-11-23T09:00. */
  readonly at: string;
  readonly slots: readonly Placed[];
}

/** A day of the calendar, such as 2026-11-23. All days have the same hours. */
export interface Day {
  readonly day: string;
  readonly hours: readonly Hour[];
  readonly slots: readonly PlannedSlot[];
}

/** The least time that a slot is drawn for: its two lines need an hour's height. */
const leastMinutes = 60;
const dayMinutes = 1_440;

/**
 * Returns days from a first one on, with their slots by the hour of the business's time zone.
 *
 * @param isWhole whether to show the hours at the ends, too, where no slot is.
 */
export function toDays(slots: readonly PlannedSlot[], first: string, count: number, isWhole = false): readonly Day[] {
  const days = Array.from({ length: count }, (_, index) => ({
    day: shiftDay(first, index),
    starts: [] as { slot: PlannedSlot; start: number; end: number; lane: number; ends: number[] }[],
  }));
  // The hours on show, and others if they have slots.
  let [from, until] = isWhole ? [0, 23] : [6, 21];
  for (const slot of slots) {
    const time = slot.deliveryTime === undefined ? '' : timeInput(timestampDate(slot.deliveryTime));
    const starts = days.find(({ day }) => time.startsWith(day))?.starts;
    if (starts === undefined) continue;
    const start = minuteOf(time);
    const end = Math.min(start + Math.max(slot.windowMinutes ?? 0, leastMinutes), dayMinutes);
    // When the lanes end in which slots overlap. These have one list.
    const before = starts.at(-1)?.ends ?? [];
    const ends = before.some((each) => each > start) ? before : [];
    const free = ends.findIndex((each) => each <= start);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = end;
    starts.push({ slot, start, end, lane, ends });
    [from, until] = [Math.min(from, Math.floor(start / 60)), Math.max(until, Math.ceil(end / 60) - 1)];
  }
  const hours = Array.from({ length: until - from + 1 }, (_, index) => from + index);
  return days.map(({ day, starts }) => ({
    day,
    slots: starts.map(({ slot }) => slot),
    hours: hours.map((hour) => ({
      hour,
      at: `${day}T${String(hour).padStart(2, '0')}:00`,
      slots: starts
        .filter(({ start }) => Math.floor(start / 60) === hour)
        .map(({ slot, start, end, lane, ends }) => ({
          ...{ slot, lane, lanes: ends.length },
          ...{ minute: start % 60, minutes: end - start },
        })),
    })),
  }));
}

/** Returns the minute of the day of a text such as 2026-11-23T09:30. */
export const minuteOf = (time: string) => Number(time.slice(11, 13)) * 60 + Number(time.slice(14, 16));
