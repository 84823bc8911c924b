import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { business, setBusiness } from '../../../services/staff-console/page/business/business.ts';
import { moveMoment } from '../../../services/staff-console/page/business/time-input.ts';
import { toDays } from '../../../services/staff-console/page/slots/week/days.ts';
import { PlannedSlotSchema } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';

const usual = business;
beforeAll(() => setBusiness({ timeZone: 'Europe/Berlin', currency: undefined }));
afterAll(() => setBusiness(usual));

const at = (time: string) => timestampFromDate(new Date(time));

describe('Times are moved by days of the wall clock, and by minutes that pass', () => {
  it.each([
    [
      'by a day over the night when clocks go forward',
      '2026-03-28T10:00+01:00',
      { days: 1, minutes: 0 },
      '2026-03-29T10:00+02:00',
    ],
    [
      'by a week over the night when clocks go back',
      '2026-10-20T10:00+02:00',
      { days: 7, minutes: 0 },
      '2026-10-27T10:00+01:00',
    ],
    ['back by an hour and a half', '2026-03-29T10:00+02:00', { days: 0, minutes: -90 }, '2026-03-29T08:30+02:00'],
    [
      'to a time that is skipped, which moves on by the gap',
      '2026-03-29T01:30+01:00',
      { days: 0, minutes: 60 },
      '2026-03-29T03:30+02:00',
    ],
    [
      'with their seconds and milliseconds',
      '2026-05-01T10:00:12.345+02:00',
      { days: -1, minutes: 60 },
      '2026-04-30T11:00:12.345+02:00',
    ],
  ])('%s', (_name, time, by, expected) => {
    expect(moveMoment(at(time), by)).toBe(new Date(expected).toISOString());
  });
});

describe('The days of the calendar', () => {
  const slotAt = (id: number, time: string) => create(PlannedSlotSchema, { id, deliveryTime: at(time) });
  const hoursOf = (days: ReturnType<typeof toDays>) =>
    days.map(({ day, hours }) => [
      day,
      ...hours.flatMap(({ hour, slots }) => slots.map(({ slot }) => `${hour}: ${slot.id}`)),
    ]);

  it('A slot stands at its hour of the business’s time zone, also on days when clocks change', () => {
    const slots = [
      slotAt(1, '2026-03-28T23:30+01:00'),
      slotAt(2, '2026-03-29T01:59+01:00'),
      slotAt(3, '2026-03-29T03:00+02:00'),
      slotAt(4, '2026-03-29T23:59:59.999+02:00'),
      slotAt(5, '2026-03-30T00:00+02:00'),
    ];
    expect(hoursOf(toDays(slots, '2026-03-28', 3))).toEqual([
      ['2026-03-28', '23: 1'],
      ['2026-03-29', '1: 2', '3: 3', '23: 4'],
      ['2026-03-30', '0: 5'],
    ]);
  });

  it('An hour that comes twice has the slots of both', () => {
    const slots = [
      slotAt(1, '2026-10-25T02:30+02:00'),
      slotAt(2, '2026-10-25T02:15+01:00'),
      slotAt(3, '2026-10-25T22:00+01:00'),
    ];
    expect(hoursOf(toDays(slots, '2026-10-25', 1))).toEqual([['2026-10-25', '2: 1', '2: 2', '22: 3']]);
  });

  it('The days have the same hours: from six to nine in the evening, and further where a slot is', () => {
    const days = toDays([slotAt(1, '2026-05-02T04:00+02:00')], '2026-05-01', 7);
    expect(days).toHaveLength(7);
    for (const { hours } of days)
      expect(hours.map(({ hour }) => hour)).toEqual(Array.from({ length: 18 }, (_, index) => index + 4));
  });

  it('Slots of other days are left out', () => {
    const days = toDays([slotAt(1, '2026-04-30T23:59+02:00'), slotAt(2, '2026-05-02T00:00+02:00')], '2026-05-01', 1);
    expect(days.flatMap(({ slots }) => slots)).toEqual([]);
  });

  it('Slots that overlap as they are drawn stand side by side, at their minutes and as long as their windows', () => {
    const windowed = (id: number, time: string, windowMinutes: number) =>
      create(PlannedSlotSchema, { id, deliveryTime: at(time), windowMinutes });
    const slots = [
      windowed(1, '2026-05-01T08:30+02:00', 120),
      windowed(2, '2026-05-01T09:00+02:00', 30),
      windowed(3, '2026-05-01T10:00+02:00', 60),
      windowed(4, '2026-05-01T23:00+02:00', 600),
    ];
    const placed = toDays(slots, '2026-05-01', 1).flatMap(({ hours }) => hours.flatMap((hour) => hour.slots));
    expect(placed.map(({ slot, isGoingOn: _, ...place }) => ({ id: slot.id, ...place }))).toEqual([
      { id: 1, minute: 30, minutes: 120, lane: 0, lanes: 2 },
      { id: 2, minute: 0, minutes: 60, lane: 1, lanes: 2 },
      { id: 3, minute: 0, minutes: 60, lane: 1, lanes: 2 },
      { id: 4, minute: 0, minutes: 60, lane: 0, lanes: 1 },
    ]);
  });

  it('A slot past midnight goes on, on the next day, until its window ends, and is one of the slots of its first day', () => {
    const windowed = (id: number, time: string, windowMinutes: number) =>
      create(PlannedSlotSchema, { id, deliveryTime: at(time), windowMinutes });
    const slots = [windowed(1, '2026-04-30T22:00+02:00', 120), windowed(2, '2026-04-30T23:00+02:00', 180)];
    const [first, second, third] = toDays(slots, '2026-04-30', 3);
    expect([first, second, third].map((day) => day?.slots.map(({ id }) => id))).toEqual([[1, 2], [], []]);
    const goingOn = [second, third].map((day) => day?.hours.flatMap((hour) => hour.slots));
    expect(goingOn).toMatchObject([[{ slot: { id: 2 }, isGoingOn: true, minute: 0, minutes: 120 }], []]);
    expect(toDays(slots, '2026-05-01', 1)[0]?.hours[0]).toMatchObject({ hour: 0, slots: [{ slot: { id: 2 } }] });
  });

  it('Whole days have all their hours', () => {
    expect(toDays([], '2026-05-01', 1, true)[0]?.hours).toHaveLength(24);
  });
});
