import { randomUUID } from 'node:crypto';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { expect } from 'vitest';
import {
  BookingRefusal,
  type BookResponse,
  type ConfirmResponse,
  type MoveResponse,
  type ReleaseResponse,
  type SlotBooking,
  SlotBookingService,
  SlotBookingState,
} from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import type { TestDatabase } from '../support/database.ts';
import { type Booking, bookingModel, type Call, type Deed, type Shown, type Slots } from './booking-model.ts';
import { type Chosen, type ExactEndOf, expectExplained, pick, RandomLoad, reasonOf, sendBy } from './random-load.ts';
import { type Ports, RetryingClient } from './retrying-client.ts';

/** Some slots, as they are at first, and orders. */
interface Group {
  readonly slots: Slots;
  readonly orders: readonly string[];
}

type Bookings = RetryingClient<typeof SlotBookingService>;
type Plan = RetryingClient<typeof SlotPlanService>;
type AllSlots = RetryingClient<typeof SlotService>;

/** Callers that book, confirm, release and move, and staff who change capacities and mark slots as full. */
export class BookingLoad extends RandomLoad<Group, Deed> {
  protected readonly clients: readonly [Bookings, Plan, AllSlots];

  constructor(ports: readonly Ports[], token: string, sql: TestDatabase['sql']) {
    super(sql, { table: 'slot_bookings', entries: ['booking', 'slot'] });
    this.clients = [
      new RetryingClient(SlotBookingService, ports, token),
      new RetryingClient(SlotPlanService, ports, token),
      new RetryingClient(SlotService, ports, token),
    ];
  }

  /**
   * Expects that the history of each group, and what the database has of it at the end, follow from the model. Resolves with
   * how many calls had no answer, and how often each other answer was given.
   */
  async expectLinearizable() {
    const { groups, unanswered } = await this.readHistories();
    const exactEndOf = await this.readExactEnds();
    const { rows, span } = await this.read<Booking & { id: number }>(
      `select id, slot_id as "slotId", order_key as "orderKey", coalesce(user_id, 0) as "userId", units,
         case when state = 'HELD' and held_until <= statement_timestamp() then 'EXPIRED' else state end as state,
         coalesce(floor(extract(epoch from held_until) * 1000)::float8, 0) as "heldUntil"
       from slot_bookings`,
    );
    const answers = new Map<string, number>();
    for (const { group, history } of groups) {
      const bookings = new Map(rows.filter(({ slotId }) => group.slots.has(slotId)).map((row) => [row.id, row]));
      const list: Call = { kind: 'list', bookings, answer: 'DONE', ...span };
      const calls = [...history.map((call) => withExactEnd(call, exactEndOf)), list];
      expectExplained(calls, bookingModel(group.slots), group.slots);
      for (const { kind, answer } of history)
        answers.set(`${kind} ${answer}`, (answers.get(`${kind} ${answer}`) ?? 0) + 1);
    }
    return { unanswered, answers };
  }

  protected async addGroup(): Promise<Group> {
    const capacities = [2, 4, 6];
    const ids = await this.sql<{ id: number }>(
      `insert into slots (delivery_time, freeze_time, capacity)
       select '2040-01-02Z', '2040-01-01Z', capacity from unnest($1::integer[]) as capacity returning id`,
      [capacities],
    );
    const slots = ids.map(({ id }, at) => [id, { capacity: capacities[at] ?? 0, isMarkedFull: false }] as const);
    const name = randomUUID();
    return { slots: new Map(slots), orders: ['a', 'b', 'c', 'd'].map((order) => `${name}-${order}`) };
  }

  protected choose({ slots, orders }: Group, known: readonly number[]): Chosen<Deed> {
    const [bookings, plan, allSlots] = this.clients;
    const slotId = pick([...slots.keys()]);
    const chance = Math.random();
    if (chance < 0.06) return setCapacity(plan, slotId, pick([0, 1, 2, 3, 4, 6]));
    if (chance < 0.09) return mark(allSlots, slotId, Math.random() < 0.3);
    if (chance < 0.5 || known.length === 0) return book(bookings, slotId, pick(orders));
    // The last ones may still be held.
    const id = pick(Math.random() < 0.7 ? known.slice(-6) : known);
    if (chance < 0.65) return confirm(bookings, id);
    if (chance < 0.8) return release(bookings, id);
    return move(bookings, id, slotId);
  }

  protected idToldBy(deed: Deed): number | undefined {
    return deed.kind === 'book' ? deed.made?.id : undefined;
  }
}

/** Expects that the units of each slot are counted as its bookings have them. */
export async function expectCounted(sql: TestDatabase['sql']): Promise<void> {
  const miscounted = await sql(
    `select * from slot_usage full join (
       select slot_id, coalesce(sum(units) filter (where state = 'HELD'), 0) as held,
         coalesce(sum(units) filter (where state = 'BOOKED'), 0) as booked
       from slot_bookings group by slot_id
     ) as sums using (slot_id)
     where (coalesce(slot_usage.held, 0), coalesce(slot_usage.booked, 0))
       <> (coalesce(sums.held, 0), coalesce(sums.booked, 0))`,
  );
  expect(miscounted).toEqual([]);
}

function withExactEnd(call: Call, exactEndOf: ExactEndOf): Call {
  if (call.kind !== 'book' || call.made === undefined || call.made.heldUntil === 0) return call;
  const { id, heldUntil } = call.made;
  return { ...call, made: { id, heldUntil: exactEndOf(id, heldUntil) } };
}

function book(bookings: Bookings, slotId: number, orderKey: string): Chosen<Deed> {
  const [userId, units, holdSeconds] = [pick([0, 0, 0, 0, 1, 2]), pick([1, 2, 3]), pick([0, 1, 1, 1, 900])];
  const wanted = { slotId, orderKey, userId, units, isHold: holdSeconds > 0 };
  const asked = { kind: 'book', wanted } as const;
  let given: BookResponse | undefined;
  return {
    send: sendBy(bookings, async (api, options) => {
      given = await api.book({ slotId, orderKey, userId, units, holdSeconds }, options);
    }),
    toDeed(error) {
      if (error !== undefined) return { ...asked, answer: reasonOf(error, 'ORDER_KEY_TAKEN') };
      const shown = shownBy(given);
      if (!given?.booked) return { ...asked, answer: refusalOf(given), shown };
      const { id = 0, heldUntil = 0 } = shown.booking ?? {};
      return { ...asked, answer: 'DONE', made: { id, heldUntil }, shown };
    },
    // A hold tells when it began.
    writtenAt() {
      const { heldUntil, bookedAt } = (given?.booked && given.booking) || {};
      return bookedAt ?? (heldUntil && { ...heldUntil, seconds: heldUntil.seconds - BigInt(holdSeconds) });
    },
    toDeedOfEntry: (id, { heldUntil }) => ({
      ...{ ...asked, answer: 'DONE' },
      made: { id, heldUntil: heldUntil === undefined ? 0 : Date.parse(heldUntil) },
    }),
  };
}

function confirm(bookings: Bookings, id: number): Chosen<Deed> {
  const confirmed = { kind: 'confirm', id, answer: 'DONE' } as const;
  let given: ConfirmResponse | undefined;
  return {
    send: sendBy(bookings, async (api, options) => {
      given = await api.confirm({ bookingId: id }, options);
    }),
    toDeed: (error) =>
      error === undefined
        ? { ...confirmed, shown: shownBy(given) }
        : { ...confirmed, answer: reasonOf(error, 'HOLD_EXPIRED', 'BOOKING_RELEASED') },
    toDeedOfEntry: () => confirmed,
    writtenAt: () => given?.booking?.bookedAt,
  };
}

function release(bookings: Bookings, id: number): Chosen<Deed> {
  const released = { kind: 'release', id, answer: 'DONE' } as const;
  let given: ReleaseResponse | undefined;
  return {
    send: sendBy(bookings, async (api, options) => {
      given = await api.release({ bookingId: id }, options);
    }),
    toDeed(error) {
      if (error !== undefined) throw error;
      return { ...released, shown: shownBy(given) };
    },
    toDeedOfEntry: () => released,
    writtenAt: () => given?.booking?.releasedAt,
  };
}

function move(bookings: Bookings, id: number, slotId: number): Chosen<Deed> {
  const moved = { kind: 'move', id, slotId, answer: 'DONE' } as const;
  let given: MoveResponse | undefined;
  return {
    send: sendBy(bookings, async (api, options) => {
      given = await api.move({ bookingId: id, slotId }, options);
    }),
    toDeed(error) {
      if (error !== undefined)
        return { ...moved, answer: reasonOf(error, 'ORDER_KEY_TAKEN', 'HOLD_EXPIRED', 'BOOKING_RELEASED') };
      return { ...moved, answer: given?.moved ? 'DONE' : refusalOf(given), shown: shownBy(given) };
    },
    toDeedOfEntry: () => moved,
  };
}

function setCapacity(plan: Plan, slotId: number, capacity: number): Chosen<Deed> {
  const set = { kind: 'setCapacity', slotId, capacity } as const;
  let changed: number | undefined;
  return {
    send: sendBy(plan, async (api, options) => {
      const change = { case: 'capacity', value: capacity } as const;
      ({ changed } = await api.updateSlots({ slots: [{ id: slotId }], change }, options));
    }),
    toDeed(error) {
      if (error !== undefined) throw error;
      return { ...set, answer: changed === 1 ? 'DONE' : 'UNCHANGED' };
    },
    toDeedOfEntry: () => ({ ...set, answer: 'DONE' }),
  };
}

function mark(slots: AllSlots, slotId: number, isFull: boolean): Chosen<Deed> {
  const marked = { kind: 'mark', slotId, isFull, answer: 'DONE' } as const;
  return {
    send: sendBy(slots, (api, options) => api.updateSlotCapacity({ slotId, isCapacityFull: isFull }, options)),
    // The answer has the units of before the mark, which takes no lock of them.
    toDeed(error) {
      if (error !== undefined) throw error;
      return marked;
    },
    toDeedOfEntry: () => marked,
  };
}

const toMs = (time: Timestamp | undefined) => (time === undefined ? 0 : timestampMs(time));

/** What answers show. */
interface Given {
  readonly booking?: SlotBooking | undefined;
  readonly remaining?: number | undefined;
}

function shownBy({ booking, remaining }: Given = {}): Shown {
  return { booking: booking && toBooking(booking), remaining };
}

function toBooking({ id, slotId, orderKey, userId = 0, units, state, heldUntil }: SlotBooking) {
  const name = SlotBookingState[state];
  if (name !== 'HELD' && name !== 'BOOKED' && name !== 'RELEASED') throw new Error(`an unexpected state: ${name}`);
  return { ...{ id, slotId, orderKey, userId, units }, state: name, heldUntil: toMs(heldUntil) } as const;
}

function refusalOf({ refusal = 0 }: { readonly refusal?: BookingRefusal | undefined } = {}) {
  const name = BookingRefusal[refusal];
  if (name !== 'MARKED_FULL' && name !== 'NO_ROOM') throw new Error(`an unexpected refusal: ${name}`);
  return name;
}
