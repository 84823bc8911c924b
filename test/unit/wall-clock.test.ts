import { expect, it } from 'vitest';
import { moveByDays } from '../../services/slot-service/plan/copies.ts';

const microsOf = (time: string) => BigInt(Date.parse(time)) * 1_000n;
const move = (time: string, days: number, timeZone: string) => {
  const { micros, ...moved } = moveByDays(microsOf(time), days, timeZone);
  return { at: new Date(Number(micros / 1_000n)).toISOString(), ...moved };
};

it.each([
  // The clock goes from 2:00 to 3:00 on 29 March, and from 3:00 to 2:00 on 25 October.
  ['Europe/Berlin', '2026-03-22T08:00+01:00', 7, '2026-03-29T08:00+02:00', false],
  ['Europe/Berlin', '2026-10-18T08:00+02:00', 7, '2026-10-25T08:00+01:00', false],
  // From 2:00 to 3:00 on 8 March, and from 2:00 to 1:00 on 1 November.
  ['America/New_York', '2026-03-01T08:00-05:00', 7, '2026-03-08T08:00-04:00', false],
  ['America/New_York', '2026-10-25T08:00-04:00', 7, '2026-11-01T08:00-05:00', false],
  // By half an hour: from 2:00 to 1:30 on 5 April, and from 2:00 to 2:30 on 4 October.
  ['Australia/Lord_Howe', '2026-03-29T08:00+11:00', 7, '2026-04-05T08:00+10:30', false],
  ['Australia/Lord_Howe', '2026-09-27T08:00+10:30', 7, '2026-10-04T08:00+11:00', false],
  ['Asia/Kolkata', '2026-03-22T08:00+05:30', 7, '2026-03-29T08:00+05:30', false],
  ['Asia/Kolkata', '2027-02-28T00:15+05:30', 366, '2028-02-29T00:15+05:30', false],
  ['Europe/Berlin', '2026-03-28T23:59:59.999+01:00', 1, '2026-03-29T23:59:59.999+02:00', false],
  // A time that is skipped moves forward by the gap.
  ['Europe/Berlin', '2026-03-22T02:30+01:00', 7, '2026-03-29T03:30+02:00', true],
  ['Europe/Berlin', '2026-03-28T02:00+01:00', 1, '2026-03-29T03:00+02:00', true],
  ['America/New_York', '2026-03-01T02:30-05:00', 7, '2026-03-08T03:30-04:00', true],
  ['Australia/Lord_Howe', '2026-09-27T02:15+10:30', 7, '2026-10-04T02:45+11:00', true],
  // Of a time that comes twice the first is taken.
  ['Europe/Berlin', '2026-10-18T02:30+02:00', 7, '2026-10-25T02:30+02:00', true],
  ['America/New_York', '2026-10-25T01:30-04:00', 7, '2026-11-01T01:30-04:00', true],
  ['Australia/Lord_Howe', '2026-03-29T01:45+11:00', 7, '2026-04-05T01:45+11:00', true],
  // One that comes twice moves to one that comes once.
  ['Europe/Berlin', '2026-10-25T02:30+02:00', 7, '2026-11-01T02:30+01:00', false],
  ['Europe/Berlin', '2026-10-25T02:30+01:00', 7, '2026-11-01T02:30+01:00', false],
])('In %s, %s moved by %i days is %s, which is adjusted: %s', (timeZone, time, days, expected, isAdjusted) => {
  const at = new Date(expected).toISOString();
  expect(move(time, days, timeZone)).toEqual({ at, isAdjusted, localDate: expected.slice(0, 10) });
});

it('Microseconds are kept, also of times before 1970', () => {
  for (const micros of [microsOf('2026-05-01T10:00Z') + 123_456n, microsOf('1961-05-01T10:00Z') - 1n]) {
    expect(moveByDays(micros, 1, 'Asia/Kolkata').micros).toBe(micros + 86_400_000_000n);
  }
});
