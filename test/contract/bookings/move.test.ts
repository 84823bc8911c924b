import { createClient } from '@connectrpc/connect';
import { beforeAll, expect, it } from 'vitest';
import { BookingRefusal } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
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
import { bookingContract, expectError } from '../../support/contract.ts';

bookingContract('Move', (api) => {
  beforeAll(() => keepRequests(api.sql));

  async function booked(order: object = {}) {
    const slotId = await addSlot(api.sql, { capacity: 5 });
    const { booking } = await api.guest.book({ slotId, orderKey: newOrderKey(), units: 2, ...order });
    if (booking === undefined) throw new Error('nothing is booked');
    return { slotId, booking };
  }
  const move = (bookingId: number, slotId: number) => api.guest.move({ bookingId, slotId });

  it.each([{ holdSeconds: 60 }, { holdSeconds: 0 }])(
    'A booking of %j moves with its id, state and hold',
    async (hold) => {
      const { slotId, booking } = await booked(hold);
      const to = await addSlot(api.sql, { capacity: 3 });
      expect(await move(booking.id, to)).toMatchObject({
        moved: true,
        remaining: 1,
        booking: { ...booking, slotId: to },
      });
      expect([await unitsOf(api.sql, slotId), await unitsOf(api.sql, to)]).toEqual([
        { live: 0, counted: 0 },
        { live: 2, counted: 2 },
      ]);
      expect((await bookingEntriesOf(api, booking.id))[1]).toEqual({
        procedure: 'slot.v1.SlotBookingService/Move',
        before: { slotId },
        after: { slotId: to },
      });
    },
  );

  it('A slot that is not counted tells no number that is left', async () => {
    const { booking } = await booked();
    const answer = await move(booking.id, await addSlot(api.sql, { capacity: null }));
    expect([answer.moved, answer.remaining]).toEqual([true, undefined]);
  });

  it('A move to its own slot changes nothing, even after the slot has closed', async () => {
    const { slotId, booking } = await booked();
    await change(api.sql, slotId, { is_active: false });
    expect(await move(booking.id, slotId)).toMatchObject({ moved: true, remaining: 3, booking });
    expect(await bookingEntriesOf(api, booking.id)).toHaveLength(1);
  });

  it.each([...closedSlots.map(([columns]) => columns), { capacity: 1 }])(
    'A move to its own slot, which became %j, is no refusal',
    async (columns) => {
      const { slotId, booking } = await booked();
      await change(api.sql, slotId, columns);
      const answer = await move(booking.id, slotId);
      expect(answer).toMatchObject({ moved: true, booking });
      expect([answer.refusal, answer.message]).toEqual([undefined, undefined]);
    },
  );

  it.each(closedSlots)('A slot of %j is refused as %s: %s', async (columns, refusal, message) => {
    const { slotId, booking } = await booked();
    const answer = await move(booking.id, await addSlot(api.sql, columns));
    expect(answer).toMatchObject({ moved: false, refusal: BookingRefusal[refusal], message, booking });
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 2, counted: 2 });
  });

  it('A slot without room is refused with what is left of it', async () => {
    const { booking } = await booked();
    const answer = await move(booking.id, await addSlot(api.sql, { capacity: 1 }));
    expect(answer).toMatchObject({ moved: false, refusal: BookingRefusal.NO_ROOM, remaining: 1, booking });
    expect(await bookingEntriesOf(api, booking.id)).toHaveLength(1);
  });

  it('A slot that the order has a live booking of is an error, and no longer one after its release', async () => {
    const { booking } = await booked();
    const to = await addSlot(api.sql);
    const other = await api.guest.book({ slotId: to, orderKey: booking.orderKey });
    await expectError(move(booking.id, to), {
      ...{ code: 'AlreadyExists', reason: 'ORDER_KEY_TAKEN', message: 'This order has a booking of this slot' },
    });
    await api.guest.release({ bookingId: other.booking?.id });
    expect(await move(booking.id, to)).toMatchObject({ moved: true });
  });

  it('A slot that the order has a live booking of is an error before the slot refuses it', async () => {
    const { booking } = await booked();
    const to = await addSlot(api.sql);
    await api.guest.book({ slotId: to, orderKey: booking.orderKey });
    await change(api.sql, to, { is_active: false });
    await expectError(move(booking.id, to), {
      ...{ code: 'AlreadyExists', reason: 'ORDER_KEY_TAKEN', message: 'This order has a booking of this slot' },
    });
  });

  it('A slot whose booking of the order has run out takes the booking', async () => {
    const { booking } = await booked();
    const to = await addSlot(api.sql);
    const { booking: other } = await api.guest.book({ slotId: to, orderKey: booking.orderKey });
    await letBookingRunOut(api.sql, other?.id);
    expect(await move(booking.id, to)).toMatchObject({ moved: true });
  });

  it('A booking of a deleted slot is kept, and moves', async () => {
    const { slotId, booking } = await booked();
    const slots = createClient(SlotService, api.transportAs('staff'));
    await slots.deleteSlot({ id: slotId });
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 2, counted: 2 });
    expect(await move(booking.id, await addSlot(api.sql))).toMatchObject({ moved: true });
  });

  it('A move away from a full slot that staff have marked requests no store refresh', async () => {
    const full = await addSlot(api.sql, { capacity: 2 });
    const { booking } = await api.guest.book({ slotId: full, orderKey: newOrderKey(), units: 2 });
    await change(api.sql, full, { is_capacity_full: true });
    const slotId = await addSlot(api.sql);
    expect(await requestsOf(api, (options) => api.guest.move({ bookingId: booking?.id, slotId }, options))).toBe(0);
  });

  it('A booking that is unknown, released or run out is an error before the slot is looked at', async () => {
    await expectError(move(999_999, 999_999), 'BOOKING_NOT_FOUND');
    const { slotId, booking } = await booked();
    await expectError(move(booking.id, 999_999), 'SLOT_NOT_FOUND');
    await letBookingRunOut(api.sql, booking.id);
    await expectError(move(booking.id, 999_999), 'HOLD_EXPIRED');
    await expectError(move(booking.id, slotId), 'HOLD_EXPIRED');
    await api.guest.release({ bookingId: booking.id });
    await expectError(move(booking.id, slotId), 'BOOKING_RELEASED');
  });

  it('It requests a store refresh for the slot that it frees a unit of, and for the one that it fills', async () => {
    const [full, empty] = [await addSlot(api.sql, { capacity: 2 }), await addSlot(api.sql, { capacity: 2 })];
    const { booking } = await api.guest.book({ slotId: full, orderKey: newOrderKey(), units: 2 });
    const moveTo = (slotId: number) =>
      requestsOf(api, (options) => api.guest.move({ bookingId: booking?.id, slotId }, options));
    expect(await moveTo(empty)).toBe(2);
    const large = await addSlot(api.sql);
    expect(await moveTo(large)).toBe(1);
    expect(await moveTo(await addSlot(api.sql))).toBe(0);
    expect(await moveTo(await addSlot(api.sql, { capacity: 1 }))).toBe(0);
  });

  it('Opposite moves of many orders all end, and the units are right', async () => {
    const [left, right] = [await addSlot(api.sql, { capacity: 100 }), await addSlot(api.sql, { capacity: 100 })];
    const ids: number[] = [];
    for (let n = 0; n < 16; n += 1) {
      const { booking } = await api.guest.book({ slotId: n % 2 === 0 ? left : right, orderKey: newOrderKey() });
      if (booking === undefined) throw new Error('nothing is booked');
      ids.push(booking.id);
    }
    for (let round = 0; round < 10; round += 1) {
      const moves = ids.map((id, n) => move(id, (n + round) % 2 === 0 ? right : left));
      expect((await Promise.all(moves)).every(({ moved }) => moved)).toBe(true);
    }
    const units = [await unitsOf(api.sql, left), await unitsOf(api.sql, right)];
    expect(units).toEqual([
      { live: 8, counted: 8 },
      { live: 8, counted: 8 },
    ]);
  });
});
