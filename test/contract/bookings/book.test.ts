import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, expect, it } from 'vitest';
import { BookingRefusal, SlotBookingState } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import {
  addSlot,
  bookingEntriesOf,
  change,
  closedSlots,
  keepRequests,
  letBookingRunOut,
  newOrderKey,
  requestsOf,
  unitsOf,
} from '../../support/bookings.ts';
import { bookingContract, expectError, expectInvalidField } from '../../support/contract.ts';

const { HELD, BOOKED } = SlotBookingState;

bookingContract('Book', (api) => {
  beforeAll(() => keepRequests(api.sql));
  const book = (slotId: number, order: object = {}) => api.guest.book({ slotId, orderKey: newOrderKey(), ...order });
  const bookings = () => api.sql('select * from slot_bookings order by id');

  it('One unit is held for 900 seconds, for a caller without a staff identity', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const { booking, ...answer } = await api.guest.book({ slotId, orderKey, userId: 1 });
    expect(answer).toMatchObject({ booked: true, remaining: 9 });
    expect([answer.refusal, answer.message]).toEqual([undefined, undefined]);
    expect(booking).toMatchObject({ slotId, orderKey, userId: 1, units: 1, state: HELD });
    if (booking?.heldUntil === undefined || booking.createdAt === undefined) throw new Error('a time is missing');
    const [heldUntil, createdAt] = [timestampDate(booking.heldUntil), timestampDate(booking.createdAt)];
    expect(heldUntil.getTime() - createdAt.getTime()).toBe(900_000);
    expect([booking.bookedAt, booking.releasedAt]).toEqual([undefined, undefined]);
    expect(await bookingEntriesOf(api, booking.id)).toEqual([
      {
        procedure: 'slot.v1.SlotBookingService/Book',
        before: undefined,
        after: {
          ...{ slotId, orderKey, userId: 1, units: 1, state: 'SLOT_BOOKING_STATE_HELD' },
          createdAt: createdAt.toISOString().replace('.000Z', 'Z'),
          heldUntil: heldUntil.toISOString().replace('.000Z', 'Z'),
        },
      },
    ]);
  });

  it('A hold of 0 seconds books at once', async () => {
    const { booking } = await book(await addSlot(api.sql), { holdSeconds: 0, units: 3 });
    expect(booking).toMatchObject({ state: BOOKED, units: 3 });
    expect(booking?.heldUntil).toBeUndefined();
    expect(booking?.bookedAt).toEqual(booking?.createdAt);
    expect(booking?.userId).toBeUndefined();
  });

  it('A slot without a capacity takes every order, and tells no number that is left', async () => {
    const slotId = await addSlot(api.sql, { capacity: null });
    const answer = await book(slotId, { units: 1_000 });
    expect(answer).toMatchObject({ booked: true, booking: { units: 1_000 } });
    expect(answer.remaining).toBeUndefined();
  });

  it.each(closedSlots)('A slot of %j is refused as %s: %s', async (columns, refusal, message) => {
    const before = await bookings();
    const answer = await book(await addSlot(api.sql, columns));
    expect(answer).toMatchObject({ booked: false, refusal: BookingRefusal[refusal], message });
    expect(answer.booking).toBeUndefined();
    expect(await bookings()).toEqual(before);
  });

  it('An order that finds no room is refused with what is left, and a smaller one is booked', async () => {
    const slotId = await addSlot(api.sql);
    await book(slotId, { units: 8, holdSeconds: 0 });
    const refused = await book(slotId, { units: 3 });
    expect(refused).toMatchObject({ booked: false, refusal: BookingRefusal.NO_ROOM, remaining: 2 });
    expect(refused.message).toBe('Slot has no room for this order');
    expect(await book(slotId, { units: 2 })).toMatchObject({ booked: true, remaining: 0 });
    expect(await book(slotId)).toMatchObject({ booked: false, refusal: BookingRefusal.NO_ROOM, remaining: 0 });
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 10, counted: 10 });
  });

  it('Of a slot that staff have marked and that has no room, the mark is the reason', async () => {
    const slotId = await addSlot(api.sql, { capacity: 1 });
    await book(slotId);
    await change(api.sql, slotId, { is_capacity_full: true });
    expect(await book(slotId)).toMatchObject({ booked: false, refusal: BookingRefusal.MARKED_FULL, remaining: 0 });
  });

  it('A booking that fills a slot whose hold has run out requests a store refresh, whatever the sweep has marked', async () => {
    const slotId = await addSlot(api.sql, { capacity: 1 });
    const { booking } = await book(slotId);
    await letBookingRunOut(api.sql, booking?.id);
    const requests = () => requestsOf(api, (options) => api.guest.book({ slotId, orderKey: newOrderKey() }, options));
    expect(await requests()).toBe(1);
  });

  it('A slot with more units than a number of the API can tell has no room, and says so', async () => {
    const slotId = await addSlot(api.sql);
    await api.sql(
      `insert into slot_bookings (slot_id, order_key, units, state, created_at) values ($1, 'many', 2147483647, 'BOOKED', now())`,
      [slotId],
    );
    expect(await book(slotId, { units: 1_000 })).toMatchObject({ booked: false, remaining: 0 });
  });

  it('The order key is one for all callers', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const { booking } = await api.staff.book({ slotId, orderKey, holdSeconds: 0 });
    expect((await api.guest.book({ slotId, orderKey, holdSeconds: 0 })).booking).toEqual(booking);
  });

  it('The log names the refusal of a call, without its order, and none of a call that books', async () => {
    const slotId = await addSlot(api.sql, { capacity: 1 });
    const lastCall = () => api.log.findLast(({ msg }) => msg === 'call');
    await book(slotId);
    expect(lastCall()).toMatchObject({ method: 'slot.v1.SlotBookingService/Book', code: 'OK' });
    expect(lastCall()).not.toHaveProperty('refusal');
    const orderKey = newOrderKey();
    await book(slotId, { orderKey });
    expect(lastCall()).toMatchObject({ method: 'slot.v1.SlotBookingService/Book', code: 'OK', refusal: 'NO_ROOM' });
    expect(JSON.stringify(lastCall())).not.toContain(orderKey);
    const { booking } = await book(await addSlot(api.sql));
    await api.guest.move({ bookingId: booking?.id, slotId });
    expect(lastCall()).toMatchObject({ method: 'slot.v1.SlotBookingService/Move', code: 'OK', refusal: 'NO_ROOM' });
  });

  it('A capacity below what is booked cancels nothing, and nothing more is booked', async () => {
    const slotId = await addSlot(api.sql);
    await book(slotId, { units: 6, holdSeconds: 0 });
    await change(api.sql, slotId, { capacity: 5 });
    expect(await book(slotId)).toMatchObject({ booked: false, refusal: BookingRefusal.NO_ROOM, remaining: 0 });
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 6, counted: 6 });
  });

  it('A hold that has run out gives its units back at once, before a sweep has marked it', async () => {
    const slotId = await addSlot(api.sql, { capacity: 1 });
    const { booking } = await book(slotId);
    expect(await book(slotId)).toMatchObject({ booked: false });
    await letBookingRunOut(api.sql, booking?.id);
    expect(await book(slotId)).toMatchObject({ booked: true, remaining: 0 });
  });

  it('A held booking is judged anew as if its units were free, and keeps its id', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const first = await book(slotId, { orderKey, units: 6 });
    const again = await book(slotId, { orderKey, units: 10, holdSeconds: 60 });
    expect(again).toMatchObject({
      booked: true,
      remaining: 0,
      booking: { id: first.booking?.id, units: 10, state: HELD },
    });
    expect(again.booking?.createdAt).toEqual(first.booking?.createdAt);
    expect(again.booking?.heldUntil).not.toEqual(first.booking?.heldUntil);
    const { booking } = await book(slotId, { orderKey, units: 4, holdSeconds: 0 });
    expect(booking).toMatchObject({ id: first.booking?.id, units: 4, state: BOOKED });
    const entries = await bookingEntriesOf(api, booking?.id);
    expect(entries[2]).toMatchObject({
      before: { units: 10, state: 'SLOT_BOOKING_STATE_HELD' },
      after: { units: 4, state: 'SLOT_BOOKING_STATE_BOOKED' },
    });
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 4, counted: 4 });
  });

  it('A held booking that is refused keeps what it had', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const first = await book(slotId, { orderKey, units: 6 });
    const refused = await book(slotId, { orderKey, units: 11, userId: 1 });
    expect(refused).toMatchObject({ booked: false, refusal: BookingRefusal.NO_ROOM, remaining: 4 });
    expect(refused.booking).toEqual(first.booking);
    await change(api.sql, slotId, { is_active: false });
    const inactive = await book(slotId, { orderKey, units: 7 });
    expect(inactive).toMatchObject({ booked: false, refusal: BookingRefusal.INACTIVE, booking: first.booking });
  });

  it.each([...closedSlots.map(([columns]) => columns), { capacity: 1 }])(
    'An order of a slot that became %j gets the units that it has, and fewer, and its hold starts again',
    async (columns) => {
      const slotId = await addSlot(api.sql);
      const orderKey = newOrderKey();
      const first = await book(slotId, { orderKey, units: 5, holdSeconds: 60 });
      await change(api.sql, slotId, columns);
      const same = await book(slotId, { orderKey, units: 5 });
      expect(same).toMatchObject({ booked: true, booking: { id: first.booking?.id, units: 5, state: HELD } });
      expect(same.booking?.heldUntil?.seconds).toBeGreaterThan(first.booking?.heldUntil?.seconds ?? 0n);
      const fewer = await book(slotId, { orderKey, units: 3, holdSeconds: 0 });
      expect(fewer).toMatchObject({ booked: true, booking: { id: first.booking?.id, units: 3, state: BOOKED } });
      const least = await book(slotId, { orderKey, holdSeconds: 60 });
      expect(least).toMatchObject({ booked: true, booking: { ...fewer.booking, units: 1 } });
      expect([least.refusal, least.message]).toEqual([undefined, undefined]);
      expect(await book(slotId, { orderKey, units: 2 })).toMatchObject({ booked: false, booking: least.booking });
      expect(await unitsOf(api.sql, slotId)).toEqual({ live: 1, counted: 1 });
      expect(await bookingEntriesOf(api, first.booking?.id)).toHaveLength(4);
    },
  );

  it('What is left of a slot with fewer units than are booked is told of what an order has then', async () => {
    const slotId = await addSlot(api.sql, { capacity: 5 });
    const orderKey = newOrderKey();
    await book(slotId, { orderKey, units: 3 });
    await book(slotId, { units: 2 });
    await change(api.sql, slotId, { capacity: 4 });
    expect(await book(slotId, { orderKey, units: 3 })).toMatchObject({ booked: true, remaining: 0 });
    expect(await book(slotId, { orderKey, units: 1 })).toMatchObject({ booked: true, remaining: 1 });
  });

  it('A hold that has run out has no units, so the order is judged as any other', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const { booking } = await book(slotId, { orderKey, units: 2 });
    await change(api.sql, slotId, { is_active: false });
    await letBookingRunOut(api.sql, booking?.id);
    expect(await book(slotId, { orderKey, units: 2 })).toMatchObject({ booked: false });
  });

  it('Of sixty-four calls at once that make one order of an overbooked slot smaller, each is taken and one changes it', async () => {
    const slotId = await addSlot(api.sql, { capacity: 5 });
    const orderKey = newOrderKey();
    const { booking } = await book(slotId, { orderKey, units: 3, holdSeconds: 0 });
    await book(slotId, { units: 2 });
    await change(api.sql, slotId, { capacity: 2 });
    const answers = await Promise.all(Array.from({ length: 64 }, () => book(slotId, { orderKey, units: 1 })));
    expect(answers.filter(({ booked }) => booked)).toHaveLength(64);
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 3, counted: 3 });
    expect(await bookingEntriesOf(api, booking?.id)).toHaveLength(2);
  });

  it('A booked one with as many units is given as it is, whatever became of the slot', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const first = await book(slotId, { orderKey, units: 2, holdSeconds: 0, userId: 1 });
    await change(api.sql, slotId, { is_active: false, is_capacity_full: true, capacity: 1 });
    const again = await book(slotId, { orderKey, units: 2, holdSeconds: 60 });
    expect(again).toMatchObject({ booked: true, booking: first.booking, remaining: 0 });
    expect(await bookingEntriesOf(api, first.booking?.id)).toHaveLength(1);
  });

  it('A booked one with more units is judged anew and stays booked, whatever the hold is', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const first = await book(slotId, { orderKey, units: 2, holdSeconds: 0 });
    const more = await book(slotId, { orderKey, units: 5, holdSeconds: 60 });
    expect(more).toMatchObject({ booked: true, remaining: 5, booking: { ...first.booking, units: 5 } });
    expect(await book(slotId, { orderKey, units: 11 })).toMatchObject({ booked: false, booking: more.booking });
    await change(api.sql, slotId, { freeze_time: '2020-01-01Z' });
    const closed = await book(slotId, { orderKey, units: 6 });
    expect(closed).toMatchObject({ booked: false, refusal: BookingRefusal.CLOSED, booking: more.booking });
  });

  it.each([
    [{ holdSeconds: 60 }, HELD],
    [{ holdSeconds: 0 }, BOOKED],
  ])('A booking of %j without a user takes the one that is given later, and keeps it', async (hold, state) => {
    const slotId = await addSlot(api.sql);
    const order = { orderKey: newOrderKey(), ...hold };
    const first = await book(slotId, order);
    expect(first.booking?.userId).toBeUndefined();
    const { booking } = await book(slotId, { ...order, userId: 1 });
    expect(booking).toMatchObject({ id: first.booking?.id, userId: 1, state });
    expect((await book(slotId, order)).booking).toMatchObject({ userId: 1 });
    expect((await bookingEntriesOf(api, booking?.id))[1]).toMatchObject({ after: { userId: 1 } });
    expect((await bookingEntriesOf(api, booking?.id))[1]?.before).not.toHaveProperty('userId');
    await expectError(book(slotId, { ...order, userId: 2 }), 'ORDER_KEY_TAKEN');
  });

  it('After a release or the end of the hold, the order gets a new booking, for whichever user', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const first = await book(slotId, { orderKey, userId: 1 });
    await api.guest.release({ bookingId: first.booking?.id });
    const second = await book(slotId, { orderKey, userId: 2 });
    expect(second.booking?.id).not.toBe(first.booking?.id);
    await letBookingRunOut(api.sql, second.booking?.id);
    const third = await book(slotId, { orderKey });
    expect(third.booking).toMatchObject({ state: HELD });
    expect(third.booking?.userId).toBeUndefined();
    const states = await api.sql('select state from slot_bookings where order_key = $1 order by id', [orderKey]);
    expect(states).toEqual([{ state: 'RELEASED' }, { state: 'HELD' }, { state: 'HELD' }]);
  });

  it('An order may have bookings of several slots', async () => {
    const orderKey = newOrderKey();
    const slots = [await addSlot(api.sql), await addSlot(api.sql)];
    for (const slotId of slots)
      expect(await book(slotId, { orderKey, userId: slotId === slots[0] ? 1 : 2 })).toMatchObject({ booked: true });
  });

  it('An unknown slot comes before an unknown user, and that before another user’s order and a refusal', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    await book(slotId, { orderKey, userId: 1 });
    await change(api.sql, slotId, { is_active: false });
    await expectError(book(999_999, { userId: 999 }), 'SLOT_NOT_FOUND');
    await expectError(book(slotId, { orderKey, userId: 999 }), 'USER_NOT_FOUND');
    await expectError(book(slotId, { orderKey, userExternalId: 'nobody' }), 'USER_NOT_FOUND');
    await expectError(book(slotId, { orderKey, userId: 2 }), 'ORDER_KEY_TAKEN');
    expect(await book(slotId, { orderKey, userId: 1, units: 2 })).toMatchObject({ booked: false });
  });

  it('A user is found by the external id', async () => {
    await api.sql(`update users set external_id = 'ext-2' where id = 2`);
    const { booking } = await book(await addSlot(api.sql), { userId: 0, userExternalId: 'ext-2' });
    expect(booking?.userId).toBe(2);
    await expectInvalidField(book(1, { userId: 1, userExternalId: 'ext-2' }), 'user_external_id');
  });

  it.each([
    [{ units: -1 }, 'units'],
    [{ units: 1_001 }, 'units'],
    [{ holdSeconds: 86_401 }, 'hold_seconds'],
    [{ holdSeconds: -1 }, 'hold_seconds'],
    [{ orderKey: '' }, 'order_key'],
    [{ orderKey: 'a b' }, 'order_key'],
    [{ slotId: undefined }, 'slot_id'],
  ])('%j is refused: %s is out of bounds', async (wrong, field) => {
    await expectInvalidField(book(1, wrong), field);
  });

  it('A booking that fills the slot requests a store refresh, and one that frees a unit of a full one; no other does', async () => {
    const slotId = await addSlot(api.sql);
    const [orderKey, other] = [newOrderKey(), newOrderKey()];
    const requests = (order: object) => requestsOf(api, (options) => api.guest.book({ slotId, ...order }, options));
    expect(await requests({ orderKey, units: 5 })).toBe(0);
    expect(await requests({ orderKey: other, units: 4 })).toBe(0);
    expect(await requests({ orderKey, units: 6 })).toBe(1);
    expect(await requests({ orderKey, units: 6, holdSeconds: 1 })).toBe(0);
    expect(await requests({ orderKey: newOrderKey() })).toBe(0);
    expect(await requests({ orderKey, units: 5 })).toBe(1);
    expect(await requests({ orderKey, units: 4 })).toBe(0);
  });

  it('A smaller order of an overbooked slot requests a store refresh if it brings the slot below its capacity, and staff have not marked it', async () => {
    const slotId = await addSlot(api.sql);
    const orderKey = newOrderKey();
    const requests = (units: number) =>
      requestsOf(api, (options) => api.guest.book({ slotId, orderKey, units }, options));
    await requests(9);
    await change(api.sql, slotId, { capacity: 5 });
    expect(await requests(9)).toBe(0);
    expect(await requests(7)).toBe(0);
    expect(await requests(5)).toBe(0);
    await change(api.sql, slotId, { freeze_time: '2020-01-01Z' });
    expect(await requests(4)).toBe(1);
    await change(api.sql, slotId, { capacity: 4, is_capacity_full: true });
    expect(await requests(3)).toBe(0);
  });

  it('A booking does not change the etag of its slot', async () => {
    const slotId = await addSlot(api.sql);
    const etag = () => api.sql('select etag, xmin from slots where id = $1', [slotId]);
    const before = await etag();
    await book(slotId, { units: 10 });
    expect(await etag()).toEqual(before);
  });

  it('Sixty-four orders that want the last ten units at once get ten', async () => {
    const slotId = await addSlot(api.sql);
    const answers = await Promise.all(Array.from({ length: 64 }, () => book(slotId)));
    expect(answers.filter(({ booked }) => booked)).toHaveLength(10);
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 10, counted: 10 });
  });
});
