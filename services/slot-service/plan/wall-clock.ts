import { Temporal } from 'temporal-polyfill';

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
