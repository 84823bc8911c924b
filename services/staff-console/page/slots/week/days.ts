import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { readTimeInput, shiftDay, timeInput } from '../../business/time-input.ts';

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
  readonly slots: readonly Placed[];
}

/** A day of the calendar. */
export interface Day {
  /** Such as 2026-11-23. */
  readonly day: string;
  /** The same hours for all days. */
  readonly hours: readonly Hour[];
  readonly slots: readonly PlannedSlot[];
}

// The hours that are always on show, without others unless they have slots.
const [firstHour, lastHour] = [6, 21];
/** The least time that a slot is drawn for: its two lines need an hour's height. */
const leastMinutes = 60;
const dayMinutes = 1_440;

/**
 * Returns days from a first one on, with their slots by the hour of the business's time zone.
 *
 * @param isWhole whether to show the hours at the ends, too, where no slot is.
 */
export function toDays(slots: readonly PlannedSlot[], first: string, count: number, isWhole = false): readonly Day[] {
  const days = Array.from({ length: count }, (_, index) => shiftDay(first, index));
  const starts = new Map(days.map((day) => [day, [] as Start[]]));
  const timeOf = localTimes([...days, shiftDay(first, count)]);
  let [from, until] = isWhole ? [0, 23] : [firstHour, lastHour];
  for (const slot of slots) {
    const { day = '', minute = 0 } = timeOf(slot.deliveryTime === undefined ? 0 : timestampMs(slot.deliveryTime)) ?? {};
    const end = Math.min(minute + Math.max(slot.windowMinutes ?? 0, leastMinutes), dayMinutes);
    if (starts.get(day)?.push({ slot, start: minute, end }) === undefined) continue;
    [from, until] = [Math.min(from, Math.floor(minute / 60)), Math.max(until, Math.ceil(end / 60) - 1)];
  }
  return days.map((day) => {
    const ofDay = starts.get(day) ?? [];
    const byHour = Array.from({ length: until - from + 1 }, (_, index) => ({
      hour: from + index,
      slots: [] as Placed[],
    }));
    for (const { start, ...placed } of inLanes(ofDay)) {
      byHour[Math.floor(start / 60) - from]?.slots.push({ ...placed, minute: start % 60 });
    }
    return { day, hours: byHour, slots: ofDay.map(({ slot }) => slot) };
  });
}

/** When a slot begins and ends as it is drawn, in minutes of the day. */
interface Start {
  readonly slot: PlannedSlot;
  readonly start: number;
  readonly end: number;
}

/** Puts slots of a day, by their start, into lanes where they overlap. */
function inLanes(starts: readonly Start[]) {
  const groups: { readonly slots: (Start & { readonly lane: number })[]; readonly ends: number[] }[] = [];
  for (const each of starts) {
    let group = groups.at(-1);
    if (group === undefined || group.ends.every((end) => end <= each.start)) {
      group = { slots: [], ends: [] };
      groups.push(group);
    }
    const free = group.ends.findIndex((end) => end <= each.start);
    const lane = free < 0 ? group.ends.length : free;
    group.ends[lane] = each.end;
    group.slots.push({ ...each, lane });
  }
  return groups.flatMap(({ slots, ends }) =>
    slots.map(({ slot, start, end, lane }) => ({ slot, start, minutes: end - start, lane, lanes: ends.length })),
  );
}

/**
 * Returns a function that gives the day of a time in Unix ms, and its minute by the wall clock. It looks at the time zone
 * once a day: for each of a thousand slots it would take a phone half a second.
 *
 * @param days one after the other, the last one excluded.
 */
function localTimes(days: readonly string[]) {
  const starts = days.map((day) => readTimeInput(`${day}T00:00`)?.getTime() ?? Number.NaN);
  return (ms: number) => {
    const index = starts.findLastIndex((start) => start <= ms);
    const [start, end] = [starts[index], starts[index + 1]];
    if (start === undefined || end === undefined) return undefined;
    const clocksChange = end - start !== dayMinutes * 60_000;
    return { day: days[index], minute: clocksChange ? minuteOf(new Date(ms)) : Math.floor((ms - start) / 60_000) };
  };
}

/** Returns the minute of the day by the wall clock. */
export function minuteOf(date: Date): number {
  const text = timeInput(date);
  return Number(text.slice(11, 13)) * 60 + Number(text.slice(14, 16));
}

/** Formats an hour as a time of day, such as "09:00". */
export const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
