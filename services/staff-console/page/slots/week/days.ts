import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { formatDay } from '../../business/time.tsx';
import { readTimeInput, shiftDay, timeInput } from '../../business/time-input.ts';
import type { Chosen } from '../../lists/selection.tsx';
import type { Shift } from '../bulk/move.ts';
import { endsAt } from '../record/ends.ts';

/** A day of the calendar. All days have the same hours. */
export type Day = ReturnType<typeof toDays>[number];
/** An hour of a day, with its slots by delivery time. */
export type Hour = Day['hours'][number];
/**
 * A slot with its place in its hour: its minute, for how many it is drawn, and its lane of so many beside each other. One
 * that began on the day before `isGoingOn`, from midnight until its window ends.
 */
export type Placed = Hour['slots'][number];

/** What the calendar and its parts need. */
export interface CalendarView {
  readonly days: readonly Day[];
  readonly now: number;
  /** Now by the wall clock, such as 2026-11-23T09:30. */
  readonly timeNow: string;
  readonly groups: ReadonlyMap<number, string>;
  /** Whether days stand side by side, with the hours at the left. Else one follows the other, with its slots only. */
  readonly isGrid: boolean;
  readonly isAlwaysDrawn: boolean;
  /** How many slots stand side by side at most. */
  readonly mostLanes: number;
  readonly chosen: Chosen;
  /** The slot in the panel; 0 for none. */
  readonly opened: number;
  onOpen(id: number): void;
  onMove(slots: readonly PlannedSlot[], by: Shift): void;
  /** Asks where slots are moved to. */
  onAskMove(slots: readonly PlannedSlot[]): void;
  onUnfold(): void;
}

/** The least time that a slot is drawn for: its two lines need an hour's height. */
const leastMinutes = 60;

/**
 * Returns days with their slots by the business's hours; with `isWhole` also the hours at the ends without slots. The
 * `slots` of a day are those that begin on it, so that each is counted once.
 */
export function toDays(slots: readonly PlannedSlot[], first: string, count: number, isWhole = false) {
  const days = Array.from({ length: count }, (_, index) => ({
    day: shiftDay(first, index),
    starts: [] as (Record<'start' | 'end' | 'lane', number> & {
      slot: PlannedSlot;
      isGoingOn: boolean;
      ends: number[];
    })[],
  }));
  // The hours on show, and others if they have slots.
  let [from, until] = isWhole ? [0, 23] : [6, 21];
  for (const slot of slots) {
    if (slot.deliveryTime === undefined) continue;
    const [begin = '', end = ''] = [timestampMs(slot.deliveryTime), endsAt(slot)].map((ms) => timeInput(new Date(ms)));
    for (const { day, starts } of days) {
      const isGoingOn = begin < day && end > `${day}T00:00`;
      if (!isGoingOn && !begin.startsWith(day)) continue;
      const start = isGoingOn ? 0 : minuteOf(begin);
      const last = Math.max(end.startsWith(day) ? minuteOf(end) : 1_440, Math.min(start + leastMinutes, 1_440));
      // When the lanes end in which slots overlap. These have one list.
      const before = starts.at(-1)?.ends ?? [];
      const ends = before.some((each) => each > start) ? before : [];
      const free = ends.findIndex((each) => each <= start);
      const lane = free < 0 ? ends.length : free;
      ends[lane] = last;
      starts.push({ slot, isGoingOn, start, end: last, lane, ends });
      [from, until] = [Math.min(from, Math.floor(start / 60)), Math.max(until, Math.ceil(last / 60) - 1)];
    }
  }
  const hours = Array.from({ length: until - from + 1 }, (_, index) => from + index);
  return days.map(({ day, starts }) => ({
    day,
    name: nameOf(day),
    slots: starts.filter(({ isGoingOn }) => !isGoingOn).map(({ slot }) => slot),
    hours: hours.map((hour) => ({
      hour,
      /** Such as 2026-11-23T09:00. */
      at: `${day}T${String(hour).padStart(2, '0')}:00`,
      slots: starts
        .filter(({ start }) => Math.floor(start / 60) === hour)
        .map(({ slot, isGoingOn, start, end, lane, ends }) => ({
          ...{ slot, isGoingOn, lane, lanes: ends.length },
          ...{ minute: start % 60, minutes: end - start },
        })),
    })),
  }));
}

/** Returns the minute of the day of a text such as 2026-11-23T09:30. */
export const minuteOf = (time: string) => Number(time.slice(11, 13)) * 60 + Number(time.slice(14, 16));

/** Names a day such as 2026-11-23: "Mon 23 Nov". */
export const nameOf = (day: string) => formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
