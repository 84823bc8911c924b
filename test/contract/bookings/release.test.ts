import { beforeAll, expect, it } from 'vitest';
import { SlotBookingState } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import {
  addSlot,
  bookingEntriesOf,
  change,
  keepRequests,
  letBookingRunOut,
  newOrderKey,
  requestsOf,
  unitsOf,
} from '../../support/bookings.ts';
import { bookingContract, expectError, expectInvalidField } from '../../support/contract.ts';

bookingContract('Release of a booking', (api) => {
  beforeAll(() => keepRequests(api.sql));

  async function booked(slotId: number, order: object = {}) {
    const { booking } = await api.guest.book({ slotId, orderKey: newOrderKey(), ...order });
    if (booking === undefined) throw new Error('nothing is booked');
    return booking;
  }
  const release = (bookingId: number, reason?: string) => api.guest.release({ bookingId, reason });

  it.each([
    ['HELD', { holdSeconds: 60 }],
    ['BOOKED', { holdSeconds: 0 }],
  ])('A %s booking is released, with the reason in the trail, and its units are free', async (state, hold) => {
    const slotId = await addSlot(api.sql, { capacity: 2 });
    const booking = await booked(slotId, { ...hold, units: 2 });
    const { booking: released } = await release(booking.id, 'order canceled');
    expect(released).toMatchObject({ id: booking.id, units: 2, state: SlotBookingState.RELEASED });
    expect(released?.bookedAt).toEqual(booking.bookedAt);
    expect([released?.releasedAt === undefined, released?.heldUntil]).toEqual([false, undefined]);
    expect((await bookingEntriesOf(api, booking.id))[1]).toMatchObject({
      procedure: 'slot.v1.SlotBookingService/Release',
      before: { state: `SLOT_BOOKING_STATE_${state}` },
      after: { state: 'SLOT_BOOKING_STATE_RELEASED', reason: 'order canceled' },
    });
    expect(await unitsOf(api.sql, slotId)).toEqual({ live: 0, counted: 0 });
    expect(await api.guest.book({ slotId, orderKey: newOrderKey(), units: 2 })).toMatchObject({ booked: true });
  });

  it('A released one stays as it is, and leaves no entry', async () => {
    const booking = await booked(await addSlot(api.sql));
    const first = await release(booking.id);
    expect(await release(booking.id, 'again')).toEqual(first);
    expect(await bookingEntriesOf(api, booking.id)).toHaveLength(2);
  });

  it('A hold that has run out is released, too', async () => {
    const booking = await booked(await addSlot(api.sql));
    await letBookingRunOut(api.sql, booking.id);
    expect((await release(booking.id)).booking?.state).toBe(SlotBookingState.RELEASED);
    expect((await bookingEntriesOf(api, booking.id))[1]).toMatchObject({
      before: { state: 'SLOT_BOOKING_STATE_EXPIRED' },
    });
  });

  it('An unknown booking and a long reason are errors', async () => {
    await expectError(release(999_999), 'BOOKING_NOT_FOUND');
    await expectInvalidField(release(1, 'x'.repeat(201)), 'reason');
  });

  it('It requests a store refresh where it frees a unit of a full slot that staff have not marked; no other does', async () => {
    const slotId = await addSlot(api.sql, { capacity: 3 });
    const bookings = [await booked(slotId), await booked(slotId), await booked(slotId)];
    const requests = (at: number) =>
      requestsOf(api, (options) => api.guest.release({ bookingId: bookings[at]?.id }, options));
    expect(await requests(0)).toBe(1);
    expect(await requests(0)).toBe(0);
    expect(await requests(1)).toBe(0);
    bookings.push(await booked(slotId, { units: 2 }));
    await change(api.sql, slotId, { is_capacity_full: true });
    expect(await requests(2)).toBe(0);
  });

  it('What is left of a slot whose capacity was lowered must come above 0', async () => {
    const slotId = await addSlot(api.sql, { capacity: 3 });
    const bookings = [await booked(slotId), await booked(slotId), await booked(slotId)];
    await change(api.sql, slotId, { capacity: 2 });
    const requests = (at: number) =>
      requestsOf(api, (options) => api.guest.release({ bookingId: bookings[at]?.id }, options));
    expect([await requests(0), await requests(1), await requests(2)]).toEqual([0, 1, 0]);
  });
});
