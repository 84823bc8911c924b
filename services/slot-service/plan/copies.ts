import { Temporal } from 'temporal-polyfill';
import { fail, invalidField } from '../../../shared/errors/errors.ts';
import { inSlices, type Waiting } from '../../../shared/rpc/answers/slices.ts';
import { slotErrors } from '../errors.ts';
import { type CopySource, isShown } from './copy-sources.ts';

/** A copy that is to be made, unless it is taken. */
export interface PlannedCopy {
  readonly source: CopySource;
  readonly days: number;
  readonly delivery: MovedTime;
  readonly freeze: MovedTime;
  /** When the copied snippets end, in the order of the source's `validTills`. */
  readonly validTills: readonly MovedTime[];
}

/** Moving a time takes about as long as this many units of a `Slice`. */
const unitsPerMove = 160;

/** By how many days the copies of a source are moved, and how many there are. */
export interface Shift {
  readonly shiftDays: number;
  readonly repeat: number;
  /** An IANA name. */
  readonly timeZone: string;
}

/**
 * Plans the copies of all sources, by source and then by days. It lets other calls run in between.
 *
 * Throws INVALID_ARGUMENT for a time beyond the year 9999.
 */
export function planCopies(planner: Waiting, sources: readonly CopySource[], shift: Shift): Promise<PlannedCopy[]> {
  const { shiftDays, repeat, timeZone } = shift;
  return inSlices(planner, function* (slice) {
    const copies: PlannedCopy[] = [];
    for (const source of sources) {
      for (let days = shiftDays; days <= repeat * shiftDays; days += shiftDays) {
        const delivery = move(source.delivery, days, timeZone);
        const freeze = move(source.freeze, days, timeZone);
        const validTills: MovedTime[] = [];
        for (const validTill of source.validTills) {
          validTills.push(move(validTill, days, timeZone));
          if (slice.isOverAfter(unitsPerMove)) yield;
        }
        copies.push({ source, days, delivery, freeze, validTills });
        if (slice.isOverAfter(2 * unitsPerMove)) yield;
      }
    }
    return copies;
  });
}

function move(micros: bigint, days: number, timeZone: string): MovedTime {
  const moved = moveByDays(micros, days, timeZone);
  const isBeyond = !isShown(moved.micros) || moved.localDate.length > 'YYYY-MM-DD'.length;
  if (isBeyond) throw invalidField('shift_days', 'moves a copy beyond the year 9999');
  return moved;
}

/** A copy, after it was decided whether it is taken. */
export interface JudgedCopy extends PlannedCopy {
  /** The lowest id of the stored slots that take it. */
  readonly takenById: number | undefined;
  /** The first of the copies before it that takes it. */
  readonly takenByCopy: PlannedCopy | undefined;
}

export const isTaken = ({ takenById, takenByCopy }: JudgedCopy) => takenById !== undefined || takenByCopy !== undefined;

/** A copy that was made, with its place. */
interface MadeCopy {
  readonly place: number;
  readonly copy: PlannedCopy;
}

/**
 * Decides in order which copies are taken: by a stored slot, or by a copy that is made before (design 12). It lets
 * other calls run in between.
 *
 * @param takers the lowest id of the stored slots that take a copy, by its place from 1.
 */
export function judgeCopies(
  planner: Waiting,
  copies: readonly PlannedCopy[],
  takers: ReadonlyMap<number, number>,
): Promise<JudgedCopy[]> {
  // By delivery time, then by group; undefined for those without groups.
  const madeAt = new Map<bigint, Map<number | undefined, MadeCopy>>();
  return inSlices(planner, function* (slice) {
    const judged: JudgedCopy[] = [];
    for (const [index, copy] of copies.entries()) {
      const { source, delivery } = copy;
      const made = madeAt.get(delivery.micros) ?? new Map<number | undefined, MadeCopy>();
      madeAt.set(delivery.micros, made);
      const groups = source.groupIds.length === 0 ? [undefined] : source.groupIds;
      let first: MadeCopy | undefined;
      for (const group of groups) {
        const other = made.get(group);
        if (other !== undefined && other.place < (first?.place ?? copies.length)) first = other;
      }
      const next = { ...copy, takenById: takers.get(index + 1), takenByCopy: first?.copy };
      if (!isTaken(next)) for (const group of groups) made.set(group, { place: index, copy });
      judged.push(next);
      if (slice.isOverAfter(groups.length)) yield;
    }
    return judged;
  });
}

/** Throws ALREADY_EXISTS SLOT_TAKEN if a copy is taken. */
export function requireFree(copies: readonly JudgedCopy[]): void {
  const taken = new Set(copies.filter(isTaken).map(({ source }) => source.id));
  if (taken.size > 0) throw fail(slotErrors.slotTaken, { metadata: { slotIds: [...taken].join() } });
}

/** A time that was moved. */
export interface MovedTime {
  /** In microseconds since the epoch. */
  readonly micros: bigint;
  /** Whether the zone skips this wall-clock time, or has it twice. */
  readonly isAdjusted: boolean;
  /** The local date, such as `2026-11-24`. */
  readonly localDate: string;
}

/**
 * Moves a time by whole days of the wall clock (design 12). A wall-clock time that the zone skips moves forward by the
 * gap; of one that it has twice, the first is taken.
 *
 * @param micros microseconds since the epoch.
 * @param timeZone an IANA name.
 */
export function moveByDays(micros: bigint, days: number, timeZone: string): MovedTime {
  const wallClock = Temporal.Instant.fromEpochNanoseconds(micros * 1_000n)
    .toZonedDateTimeISO(timeZone)
    .toPlainDateTime()
    .add({ days });
  const moved = wallClock.toZonedDateTime(timeZone, { disambiguation: 'compatible' });
  const [first, second] = (['earlier', 'later'] as const).map(
    (disambiguation) => wallClock.toZonedDateTime(timeZone, { disambiguation }).epochNanoseconds,
  );
  return {
    micros: moved.epochNanoseconds / 1_000n,
    isAdjusted: first !== second,
    localDate: moved.toPlainDate().toString(),
  };
}
