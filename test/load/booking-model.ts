// A model of slots that are booked, with a capacity that staff change meanwhile.

import { inOrder, type Model, type Span } from './linearizability.ts';

export interface Slot {
  /** 0: the slot is not counted. */
  readonly capacity: number;
  readonly isMarkedFull: boolean;
}

/** The slots of a history by id, as they are at first. */
export type Slots = ReadonlyMap<number, Slot>;

export interface Booking {
  readonly slotId: number;
  readonly orderKey: string;
  /** 0: none. */
  readonly userId: number;
  readonly units: number;
  readonly state: 'HELD' | 'BOOKED' | 'RELEASED' | 'EXPIRED';
  /** 0 unless it is held or has expired. */
  readonly heldUntil: number;
}

type Refusal = 'MARKED_FULL' | 'NO_ROOM';

/** What an answer shows: the booking afterwards, and what is left of the slot, where it is counted. */
export interface Shown {
  readonly booking?: (Booking & { readonly id: number }) | undefined;
  readonly remaining?: number | undefined;
}

/** What a call asked for, and what it was answered. */
export type Deed = (
  | {
      readonly kind: 'book';
      readonly wanted: Pick<Booking, 'slotId' | 'orderKey' | 'userId' | 'units'> & { readonly isHold: boolean };
      readonly answer: 'DONE' | Refusal | 'ORDER_KEY_TAKEN';
      /** The booking that was made, and the end of its hold, to the microsecond; 0 if it is booked. */
      readonly made?: { readonly id: number; readonly heldUntil: number };
    }
  | { readonly kind: 'confirm'; readonly id: number; readonly answer: 'DONE' | 'HOLD_EXPIRED' | 'BOOKING_RELEASED' }
  | { readonly kind: 'release'; readonly id: number; readonly answer: 'DONE' }
  | {
      readonly kind: 'move';
      readonly id: number;
      readonly slotId: number;
      readonly answer: 'DONE' | Refusal | 'ORDER_KEY_TAKEN' | 'HOLD_EXPIRED' | 'BOOKING_RELEASED';
    }
  | {
      readonly kind: 'setCapacity';
      readonly slotId: number;
      readonly capacity: number;
      readonly answer: 'DONE' | 'UNCHANGED';
    }
  | { readonly kind: 'mark'; readonly slotId: number; readonly isFull: boolean; readonly answer: 'DONE' }
  /** All bookings, as they were read. */
  | { readonly kind: 'list'; readonly bookings: ReadonlyMap<number, Booking>; readonly answer: 'DONE' }
) & {
  /** Undefined for an error, and for a call whose answer is known from the trail only. */
  readonly shown?: Shown;
};

export type Call = Deed & Span;

interface World {
  readonly slots: Slots;
  readonly bookings: ReadonlyMap<number, Booking>;
}

/** What a call must be answered, and the world after it. */
interface Outcome {
  readonly answer: Deed['answer'];
  readonly world: World;
  /** The booking that is shown. */
  readonly bookingId?: number | undefined;
  /** The slot of which is shown what is left. */
  readonly slotId?: number;
}

const asOf = (booking: Booking, at: number): Booking =>
  booking.state === 'HELD' && at >= booking.heldUntil ? { ...booking, state: 'EXPIRED' } : booking;

/** A world at a time, and what the rules ask about it. */
class Moment {
  readonly world: World;
  readonly #at: number;

  constructor(world: World, at: number) {
    this.world = world;
    this.#at = at;
  }

  bookingOf(id: number | undefined): Booking | undefined {
    const booking = id === undefined ? undefined : this.world.bookings.get(id);
    return booking && asOf(booking, this.#at);
  }

  liveIn(slotId: number): [number, Booking][] {
    return [...this.world.bookings]
      .map(([id, booking]): [number, Booking] => [id, asOf(booking, this.#at)])
      .filter(([, booking]) => booking.slotId === slotId && ['HELD', 'BOOKED'].includes(booking.state));
  }

  /** The live booking that an order has of a slot. */
  ownIn({ slotId, orderKey }: Pick<Booking, 'slotId' | 'orderKey'>): [number, Booking] | undefined {
    return this.liveIn(slotId).find(([, booking]) => booking.orderKey === orderKey);
  }

  /** What is left of a slot, below 0 if its capacity was lowered; undefined if it is not counted. */
  leftOf(slotId: number): number | undefined {
    const capacity = this.world.slots.get(slotId)?.capacity ?? 0;
    return capacity === 0 ? undefined : capacity - this.liveIn(slotId).reduce((sum, [, { units }]) => sum + units, 0);
  }

  /** Why a slot takes no more units. */
  refusalOf(slotId: number, more: number): Refusal | undefined {
    if (this.world.slots.get(slotId)?.isMarkedFull) return 'MARKED_FULL';
    return more > (this.leftOf(slotId) ?? Number.POSITIVE_INFINITY) ? 'NO_ROOM' : undefined;
  }

  with(id: number, booking: Booking): World {
    return { ...this.world, bookings: new Map(this.world.bookings).set(id, booking) };
  }

  withSlot(slotId: number, change: Partial<Slot>): World {
    const slot = { capacity: 0, isMarkedFull: false, ...this.world.slots.get(slotId), ...change };
    return { ...this.world, slots: new Map(this.world.slots).set(slotId, slot) };
  }
}

type DeedOf<Kind extends Deed['kind']> = Extract<Deed, { kind: Kind }>;

function book(moment: Moment, { wanted, made }: DeedOf<'book'>): Outcome | undefined {
  const { world } = moment;
  const { isHold, ...order } = wanted;
  const { slotId, units, userId } = order;
  const [id, own] = moment.ownIn(order) ?? [];
  if (own !== undefined && userId > 0 && own.userId > 0 && own.userId !== userId)
    return { answer: 'ORDER_KEY_TAKEN', world };
  const isSettled = own?.state === 'BOOKED' && own.units === units;
  const more = units - (own?.units ?? 0);
  const refusal = more > 0 ? moment.refusalOf(slotId, more) : undefined;
  if (refusal !== undefined) return { answer: refusal, world, bookingId: id, slotId };
  if (made === undefined || (id === undefined ? world.bookings.has(made.id) : id !== made.id)) return undefined;
  const state = own?.state === 'BOOKED' || !isHold ? 'BOOKED' : 'HELD';
  if ((state === 'HELD') !== made.heldUntil > 0) return undefined;
  const user = own?.userId || userId;
  const isSame = isSettled && own.userId === user;
  const booking: Booking = { ...order, userId: user, state, heldUntil: made.heldUntil };
  return { answer: 'DONE', world: isSame ? world : moment.with(made.id, booking), bookingId: made.id, slotId };
}

function confirm(moment: Moment, { id }: DeedOf<'confirm'>): Outcome | undefined {
  const { world } = moment;
  const found = moment.bookingOf(id);
  if (found === undefined) return undefined;
  if (found.state === 'RELEASED') return { answer: 'BOOKING_RELEASED', world };
  if (found.state === 'BOOKED') return { answer: 'DONE', world, bookingId: id };
  const isRefused =
    found.state === 'EXPIRED' &&
    (moment.ownIn(found) !== undefined || moment.refusalOf(found.slotId, found.units) !== undefined);
  if (isRefused) return { answer: 'HOLD_EXPIRED', world };
  return { answer: 'DONE', world: moment.with(id, { ...found, state: 'BOOKED', heldUntil: 0 }), bookingId: id };
}

function release(moment: Moment, { id }: DeedOf<'release'>): Outcome | undefined {
  const found = moment.bookingOf(id);
  if (found === undefined) return undefined;
  const isReleased = found.state === 'RELEASED';
  const world = isReleased ? moment.world : moment.with(id, { ...found, state: 'RELEASED', heldUntil: 0 });
  return { answer: 'DONE', world, bookingId: id };
}

function move(moment: Moment, { id, slotId }: DeedOf<'move'>): Outcome | undefined {
  const { world } = moment;
  const found = moment.bookingOf(id);
  if (found === undefined) return undefined;
  if (found.state === 'RELEASED') return { answer: 'BOOKING_RELEASED', world };
  if (found.state === 'EXPIRED') return { answer: 'HOLD_EXPIRED', world };
  const shown = { bookingId: id, slotId };
  if (found.slotId === slotId) return { answer: 'DONE', world, ...shown };
  const moved = { ...found, slotId };
  if (moment.ownIn(moved) !== undefined) return { answer: 'ORDER_KEY_TAKEN', world };
  const refusal = moment.refusalOf(slotId, found.units);
  if (refusal !== undefined) return { answer: refusal, world, ...shown };
  return { answer: 'DONE', world: moment.with(id, moved), ...shown };
}

function setCapacity(moment: Moment, { slotId, capacity }: DeedOf<'setCapacity'>): Outcome {
  const { world } = moment;
  if (world.slots.get(slotId)?.capacity === capacity) return { answer: 'UNCHANGED', world };
  return { answer: 'DONE', world: moment.withSlot(slotId, { capacity }) };
}

function mark(moment: Moment, { slotId, isFull }: DeedOf<'mark'>): Outcome {
  const { world } = moment;
  const isSame = world.slots.get(slotId)?.isMarkedFull === isFull;
  return { answer: 'DONE', world: isSame ? world : moment.withSlot(slotId, { isMarkedFull: isFull }), slotId };
}

function list(moment: Moment, { bookings }: DeedOf<'list'>): Outcome | undefined {
  const { world } = moment;
  const isSame =
    bookings.size === world.bookings.size &&
    [...bookings].every(([id, booking]) => areSame(booking, moment.bookingOf(id)));
  return isSame ? { answer: 'DONE', world } : undefined;
}

function outcomeOf(moment: Moment, call: Call): Outcome | undefined {
  switch (call.kind) {
    case 'book':
      return book(moment, call);
    case 'confirm':
      return confirm(moment, call);
    case 'release':
      return release(moment, call);
    case 'move':
      return move(moment, call);
    case 'setCapacity':
      return setCapacity(moment, call);
    case 'mark':
      return mark(moment, call);
    case 'list':
      return list(moment, call);
  }
}

/** Whether two are the same as answers show them: the ends of holds to the millisecond. */
function areSame(left: Booking | undefined, right: Booking | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return (
    left.slotId === right.slotId &&
    left.orderKey === right.orderKey &&
    left.userId === right.userId &&
    left.units === right.units &&
    left.state === right.state &&
    Math.floor(left.heldUntil) === Math.floor(right.heldUntil)
  );
}

/** Whether an answer shows what the world after it has. */
function isAsShown({ booking, remaining }: Shown, { bookingId, slotId }: Outcome, moment: Moment): boolean {
  const left = slotId === undefined ? undefined : moment.leftOf(slotId);
  return (
    booking?.id === bookingId &&
    areSame(booking, moment.bookingOf(bookingId)) &&
    remaining === (left === undefined ? undefined : Math.max(left, 0))
  );
}

function after(world: World, call: Call, at: number): World | undefined {
  const outcome = outcomeOf(new Moment(world, at), call);
  if (outcome === undefined || outcome.answer !== call.answer) return undefined;
  const isShown = call.shown === undefined || isAsShown(call.shown, outcome, new Moment(outcome.world, at));
  return isShown ? outcome.world : undefined;
}

/** The model of these slots. */
export const bookingModel = (slots: Slots): Model<World, Call> => ({
  start: { slots, bookings: new Map() },
  after,
  // A booking may be moved away and back again, have other units and the same again, and so on.
  changesNothingLater: ({ kind, answer }) => kind === 'list' || answer !== 'DONE',
  endsIn: ({ bookings }) =>
    [...bookings.values()].filter(({ state }) => state === 'HELD').map(({ heldUntil }) => heldUntil),
  toKey: ({ slots: changed, bookings }) => [inOrder(changed), inOrder(bookings)],
});
