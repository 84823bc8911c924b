import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { business, setBusiness } from '../../../services/staff-console/page/business/business.ts';
import {
  dateInput,
  describeSkipped,
  fileTime,
  fromTimeInput,
  moveTime,
  repeatedTimes,
  shiftDay,
  timeInput,
} from '../../../services/staff-console/page/business/time-input.ts';

const before = business;
afterAll(() => setBusiness(before));

describe('The time in a field', () => {
  beforeEach(() => setBusiness({ timeZone: 'Asia/Kolkata', currency: undefined }));

  it('The time in a field is that of the business’s time zone, to the minute', () => {
    const date = new Date('2030-01-01T18:35:59Z');
    expect(timeInput(date)).toBe('2030-01-02T00:05');
    expect(dateInput(date)).toBe('2030-01-02');
  });

  it('The time in a field is sent in UTC', () => {
    expect(fromTimeInput('2030-01-02T00:05')).toBe('2030-01-01T18:35:00.000Z');
  });

  it('A time that nobody has changed keeps its seconds', () => {
    const date = new Date('2030-01-01T18:35:59Z');
    expect(fromTimeInput(timeInput(date), timestampFromDate(date))).toBe(date.toISOString());
    expect(fromTimeInput('2030-01-02T00:06', timestampFromDate(date))).toBe('2030-01-01T18:36:00.000Z');
  });

  it('What is no time is sent as it is, so that the service says what is wrong with it', () => {
    expect(fromTimeInput('')).toBe('');
    expect(fromTimeInput('20301-01-02T00:05')).toBe('20301-01-02T00:05');
  });

  it('A time moves by as much of the wall clock as another one was moved', () => {
    expect(moveTime('2026-11-27T06:00', '2026-11-27T10:00', '2027-04-25T11:30')).toBe('2027-04-25T07:30');
    expect(moveTime('2026-11-27T06:00', '', '2027-04-25T11:30')).toBe('2026-11-27T06:00');
  });

  it('A day moves across the end of a year', () => {
    expect(shiftDay('2026-12-28', 7)).toBe('2027-01-04');
  });
});

describe('The time in a field when the clocks change', () => {
  // The zone, an hour that it has twice with both of its instants, and one that it skips with what it becomes.
  const zones = [
    [
      'Europe/Berlin',
      '2026-10-25T02:30',
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-03-29T02:30',
      '03:30',
    ],
    [
      'America/New_York',
      '2026-11-01T01:30',
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:30:00.000Z',
      '2026-03-08T02:30',
      '03:30',
    ],
    [
      'Australia/Lord_Howe',
      '2026-04-05T01:45',
      '2026-04-04T14:45:00.000Z',
      '2026-04-04T15:15:00.000Z',
      '2026-10-04T02:15',
      '02:45',
    ],
  ] as const;

  it.each(zones)('In %s, both times of an hour that comes twice can be told apart', (timeZone, text, first, second) => {
    setBusiness({ timeZone, currency: undefined });
    const texts = repeatedTimes(text);
    expect(texts.map((each) => fromTimeInput(each))).toEqual([first, second]);
    expect([first, second].map((time) => timeInput(new Date(time)))).toEqual(texts);
    expect(fromTimeInput(text)).toBe(first);
  });

  it.each(zones)(
    'In %s, it is said what becomes of a time that is skipped',
    (timeZone, _text, _first, _second, skipped, becomes) => {
      setBusiness({ timeZone, currency: undefined });
      const [sentence] = describeSkipped('The delivery time', skipped);
      expect(sentence).toContain(`the clocks skip ${skipped.slice(11)}. It becomes ${becomes}.`);
      expect(timeInput(new Date(fromTimeInput(skipped)))).toBe(`${skipped.slice(0, 11)}${becomes}`);
    },
  );

  it('A time that comes once is neither repeated nor skipped', () => {
    setBusiness({ timeZone: 'Europe/Berlin', currency: undefined });
    expect(repeatedTimes('2026-10-25T03:30')).toEqual([]);
    expect(describeSkipped('The delivery time', '2026-03-29T03:30')).toEqual([]);
    expect(describeSkipped('The delivery time', '')).toEqual([]);
  });

  it('A time at the second of two stays there when it moves along within the hour', () => {
    setBusiness({ timeZone: 'Europe/Berlin', currency: undefined });
    expect(moveTime('2027-10-31T02:00+01:00', '2027-10-31T06:00', '2027-10-31T06:30')).toBe('2027-10-31T02:30+01:00');
    expect(moveTime('2027-10-31T02:00+01:00', '2027-10-31T06:00', '2027-10-31T07:30')).toBe('2027-10-31T03:30');
  });

  it('A time of a file can be sorted, and shows which of two it is', () => {
    setBusiness({ timeZone: 'Europe/Berlin', currency: undefined });
    const times = [undefined, '2027-10-31T00:30Z', '2027-10-31T01:30Z', '2027-11-01T01:30Z'];
    expect(times.map((time) => fileTime(time === undefined ? undefined : timestampFromDate(new Date(time))))).toEqual([
      '',
      ...['2027-10-31 02:30+02:00', '2027-10-31 02:30+01:00', '2027-11-01 02:30'],
    ]);
  });
});
