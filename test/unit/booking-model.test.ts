import { describe, expect, it } from 'vitest';
import { type Booking, bookingModel, type Call, type Deed } from '../load/booking-model.ts';
import { findAnomaly } from '../load/linearizability.ts';

const model = bookingModel(
  new Map([
    [1, { capacity: 3, isMarkedFull: false }],
    [2, { capacity: 2, isMarkedFull: false }],
    [3, { capacity: 0, isMarkedFull: false }],
  ]),
);

interface Wish {
  readonly slotId?: number;
  readonly units?: number;
  readonly userId?: number;
  /** 0: it is booked at once. */
  readonly heldUntil?: number;
}
const wish = (orderKey: string, { slotId = 1, units = 2, userId = 0, heldUntil = 9_000 }: Wish) => ({
  kind: 'book' as const,
  wanted: { slotId, orderKey, units, userId, isHold: heldUntil > 0 },
});
const stateOf = ({ heldUntil = 9_000 }: Wish) => (heldUntil > 0 ? ('HELD' as const) : ('BOOKED' as const));
const booked = (id: number, orderKey: string, remaining: number | undefined, given: Wish = {}): Deed => {
  const { wanted, kind } = wish(orderKey, given);
  const { isHold: _isHold, ...order } = wanted;
  const { heldUntil = 9_000 } = given;
  const booking = { id, ...order, state: stateOf(given), heldUntil };
  return { kind, wanted, answer: 'DONE', made: { id, heldUntil }, shown: { booking, remaining } };
};
const refused = (
  orderKey: string,
  remaining: number,
  given: Wish & { answer?: 'NO_ROOM' | 'MARKED_FULL' } = {},
): Deed => ({
  ...wish(orderKey, given),
  ...{ answer: given.answer ?? 'NO_ROOM', shown: { remaining } },
});
const taken = (orderKey: string, given: Wish): Deed => ({ ...wish(orderKey, given), answer: 'ORDER_KEY_TAKEN' });
const confirmed = (answer: 'DONE' | 'HOLD_EXPIRED' | 'BOOKING_RELEASED' = 'DONE'): Deed => ({
  ...{ kind: 'confirm', id: 1, answer },
});
const released: Deed = { kind: 'release', id: 1, answer: 'DONE' };
const moved = (slotId: number, remaining?: number, given: Partial<Booking> = {}): Deed => ({
  ...{ kind: 'move', id: 1, slotId, answer: 'DONE' },
  shown: {
    booking: { id: 1, slotId, orderKey: 'a', userId: 0, units: 2, state: 'HELD', heldUntil: 9_000, ...given },
    remaining,
  },
});
const notMoved = (slotId: number, answer: 'ORDER_KEY_TAKEN' | 'HOLD_EXPIRED' | 'BOOKING_RELEASED'): Deed => ({
  ...{ kind: 'move', id: 1, slotId, answer },
});
/** A move to slot 2 that is refused. */
const kept = (remaining: number): Deed => ({
  ...moved(2, remaining, { slotId: 1 }),
  ...{ kind: 'move', id: 1, slotId: 2, answer: 'NO_ROOM' },
});
const capacity = (units: number, answer: 'DONE' | 'UNCHANGED' = 'DONE'): Deed => ({
  ...{ kind: 'setCapacity', slotId: 1, capacity: units, answer },
});
const marked = (isFull: boolean): Deed => ({ kind: 'mark', slotId: 1, isFull, answer: 'DONE' });
const listed = (...ids: number[]): Deed => {
  const order = { slotId: 1, userId: 0, units: 2, state: 'HELD', heldUntil: 9_000 } as const;
  const orderKeys = ['', 'a', 'b'];
  const bookings = new Map(ids.map((id) => [id, { ...order, orderKey: orderKeys[id] ?? '' }]));
  return { kind: 'list', answer: 'DONE', bookings };
};

/** A history: of each call when it began, when it was answered, and what it did. */
const history = (...calls: (number | Deed)[]): Call[] => {
  const deeds = calls.filter((each): each is Deed => typeof each !== 'number');
  const times = calls.filter((each): each is number => typeof each === 'number');
  return deeds.map((deed, at) => ({ ...deed, begunAt: times[2 * at] ?? 0, answeredAt: times[2 * at + 1] ?? 0 }));
};

describe('The check of histories of bookings', () => {
  const held = booked(1, 'a', 1);
  const short = (heldUntil: number) => booked(1, 'a', 1, { heldUntil });

  it.each<[string, Call[]]>([
    ['a hold, its confirmation and a refusal', history(0, 1, held, 2, 3, confirmed(), 4, 5, refused('b', 1))],
    ['two at once of which one is refused', history(0, 9, refused('a', 1), 5, 9, booked(1, 'b', 1))],
    ['units that are free again', history(0, 1, held, 2, 6, released, 3, 5, booked(2, 'b', 0, { units: 3 }))],
    ['a hold that runs out during the call that takes its units', history(0, 1, short(9), 5, 15, booked(2, 'b', 1))],
    ['an order that takes other units', history(0, 1, held, 2, 3, booked(1, 'a', 0, { units: 3 }))],
    ['an order that books what it holds', history(0, 1, held, 2, 3, booked(1, 'a', 1, { heldUntil: 0 }))],
    ['an order after its hold', history(0, 1, short(9), 10, 11, booked(2, 'a', 1), 12, 13, confirmed('HOLD_EXPIRED'))],
    ['a hold that is taken again', history(0, 1, short(9), 10, 11, confirmed(), 12, 13, refused('b', 1))],
    ["another user's order", history(0, 1, booked(1, 'a', 1, { userId: 1 }), 2, 3, taken('a', { userId: 2 }))],
    ['a capacity below what is booked', history(0, 1, held, 2, 3, capacity(1), 4, 5, refused('b', 0, { units: 1 }))],
    ['a capacity that is raised meanwhile', history(0, 1, held, 2, 9, capacity(4), 2, 8, booked(2, 'b', 0))],
    [
      'an order that asks for no more than it has of a capacity below it',
      history(0, 1, held, 2, 3, capacity(1), 4, 5, booked(1, 'a', 0), 6, 7, booked(1, 'a', 0, { units: 1 })),
    ],
    ['a slot that is counted no more', history(0, 1, held, 2, 3, capacity(0), 4, 5, booked(2, 'b', undefined))],
    ['a slot that staff mark', history(0, 1, marked(true), 2, 3, refused('a', 3, { answer: 'MARKED_FULL' }))],
    ['a move that frees units', history(0, 1, held, 2, 9, moved(2, 0), 3, 8, booked(2, 'b', 0, { units: 3 }))],
    [
      'a move for which there is no room',
      history(0, 1, held, 2, 3, booked(2, 'b', 1, { slotId: 2, units: 1 }), 4, 5, kept(1)),
    ],
    [
      'a hold that has run out before a call that began later changes nothing',
      history(
        0,
        1,
        held,
        2,
        3,
        released,
        4,
        20,
        booked(2, 'a', 1, { heldUntil: 9 }),
        12,
        19,
        notMoved(1, 'BOOKING_RELEASED'),
      ),
    ],
    ['moves to and fro at once', history(0, 1, held, 2, 9, moved(1, 1), 2, 9, moved(2, 0), 10, 11, refused('b', 1))],
    [
      'a move of an order that is there',
      history(0, 1, held, 2, 3, booked(2, 'a', undefined, { slotId: 3 }), 4, 5, notMoved(3, 'ORDER_KEY_TAKEN')),
    ],
  ])('It explains %s', (_what, calls) => {
    expect(findAnomaly(calls, model)).toBeUndefined();
  });

  it.each<[string, number, Call[]]>([
    ['a slot that two orders overbook at once', 1, history(0, 9, held, 0, 9, booked(2, 'b', 1))],
    ['a slot that an order overbooks during a hold', 1, history(0, 1, short(100), 50, 99, booked(2, 'b', 1))],
    ['a slot that is overbooked by other units', 1, history(0, 1, held, 2, 3, booked(1, 'a', 0, { units: 4 }))],
    [
      'a slot that a move overbooks',
      2,
      history(0, 1, held, 2, 3, booked(2, 'b', 1, { slotId: 2, units: 1 }), 4, 5, moved(2, 0)),
    ],
    [
      'a slot that a confirmation overbooks',
      2,
      history(0, 1, short(9), 10, 11, booked(2, 'b', 1), 12, 13, confirmed()),
    ],
    [
      'a slot that is booked beyond a lower capacity',
      2,
      history(0, 1, held, 2, 3, capacity(2), 4, 5, booked(2, 'b', 0, { units: 1 })),
    ],
    ['an order in a slot that is marked', 1, history(0, 1, marked(true), 2, 3, held)],
    [
      'a refusal of an order that asks for no more than it has',
      2,
      history(0, 1, held, 2, 3, capacity(1), 4, 5, {
        ...refused('a', 0),
        shown: { ...held.shown, remaining: 0 },
      }),
    ],
    ['a refusal where there is room', 0, history(0, 1, refused('a', 3))],
    ['a refusal after the units were given back', 2, history(0, 1, held, 2, 3, released, 4, 5, refused('b', 1))],
    ['a confirmation that fails in time', 1, history(0, 1, held, 2, 3, confirmed('HOLD_EXPIRED'))],
    ['a confirmation after a release', 2, history(0, 1, held, 2, 3, released, 4, 5, confirmed())],
    ['units that are not those left', 0, history(0, 1, booked(1, 'a', 2))],
    ['units left of a slot that is not counted', 0, history(0, 1, booked(1, 'a', 1, { slotId: 3 }))],
    [
      'two bookings of one order',
      1,
      history(0, 1, booked(1, 'a', undefined, { slotId: 3 }), 2, 3, booked(2, 'a', undefined, { slotId: 3 })),
    ],
    [
      "another user's order that is given",
      1,
      history(0, 1, booked(1, 'a', 1, { userId: 1 }), 2, 3, booked(1, 'a', 1, { userId: 2 })),
    ],
    ['a move that loses the hold', 1, history(0, 1, held, 2, 3, moved(2, 0, { state: 'BOOKED', heldUntil: 0 }))],
    ['a move that leaves the units where they were', 2, history(0, 1, held, 2, 3, moved(2, 0), 4, 5, refused('b', 1))],
    ['a move of a booking that was given back', 2, history(0, 1, held, 2, 3, released, 4, 5, moved(2, 0))],
    ['a capacity that was not set', 1, history(0, 1, capacity(5), 2, 3, capacity(5))],
    ['a booking that is lost', 1, history(0, 1, held, 2, 3, listed())],
    ['a booking that is doubled', 1, history(0, 1, held, 2, 3, listed(1, 2))],
    ['a release that is lost', 2, history(0, 1, held, 2, 3, released, 4, 5, listed(1))],
    ['a move that is lost', 2, history(0, 1, held, 2, 3, moved(2, 0), 4, 5, listed(1))],
  ])('It finds %s', (_what, explained, calls) => {
    expect(findAnomaly(calls, model)?.explained).toBe(explained);
  });
});
