import { beforeAll, expect, it } from 'vitest';
import { SlotBookingState } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import {
  addSlot,
  bookingEntriesOf,
  change,
  closedSlots,
  keepRequests,
  letBookingRunOut,
  newOrderKey,
  requestsOf,
  type SlotColumns,
} from '../../support/bookings.ts';
import { bookingContract, expectError } from '../../support/contract.ts';

bookingContract('Confirm of a booking', (api) => {
  beforeAll(() => keepRequests(api.sql));

  /** Holds a unit of a new slot for a new order. */
  async function held(given?: SlotColumns) {
    const slotId = await addSlot(api.sql, given);
    const order = { slotId, orderKey: newOrderKey() };
    const { booking } = await api.guest.book(order);
    if (booking === undefined) throw new Error('the slot is not held');
    return { slotId, order, booking };
  }
  const confirm = (bookingId: number) => api.guest.confirm({ bookingId });

  it.each(closedSlots)('A held booking becomes booked although its slot is %j by now', async (columns) => {
    const { slotId, booking } = await held();
    await change(api.sql, slotId, { ...columns, capacity: 1 });
    const answer = await confirm(booking.id);
    const { bookedAt } = answer.booking ?? {};
    const { heldUntil: _heldUntil, ...kept } = booking;
    expect(answer.booking).toEqual({ ...kept, state: SlotBookingState.BOOKED, bookedAt });
    expect(bookedAt).toBeDefined();
    expect(await bookingEntriesOf(api, booking.id)).toMatchObject([
      {},
      {
        procedure: 'slot.v1.SlotBookingService/Confirm',
        before: { state: 'SLOT_BOOKING_STATE_HELD' },
        after: { state: 'SLOT_BOOKING_STATE_BOOKED' },
      },
    ]);
  });

  it('A held booking becomes booked although the capacity is below what is booked by now', async () => {
    const { slotId, order, booking } = await held();
    await api.guest.book({ ...order, units: 4 });
    await change(api.sql, slotId, { capacity: 1 });
    expect((await confirm(booking.id)).booking).toMatchObject({ state: SlotBookingState.BOOKED, units: 4 });
  });

  it('A booked one stays as it is, and leaves no entry', async () => {
    const { booking } = await held();
    const first = await confirm(booking.id);
    expect(await confirm(booking.id)).toEqual(first);
    expect(await bookingEntriesOf(api, booking.id)).toHaveLength(2);
  });

  it('A held booking of a slot whose row is gone becomes booked', async () => {
    const { slotId, booking } = await held();
    await api.sql('delete from slots where id = $1', [slotId]);
    expect((await confirm(booking.id)).booking?.state).toBe(SlotBookingState.BOOKED);
  });

  it.each([
    ['that no sweep has marked', 'HELD'],
    ['that a sweep has marked', 'EXPIRED'],
  ])('A hold that has run out, %s, is taken again while there is room', async (_which, state) => {
    const { booking } = await held({ capacity: 1 });
    await letBookingRunOut(api.sql, booking.id);
    await api.sql('update slot_bookings set state = $2 where id = $1', [booking.id, state]);
    expect((await confirm(booking.id)).booking).toMatchObject({ id: booking.id, state: SlotBookingState.BOOKED });
    expect((await bookingEntriesOf(api, booking.id))[1]).toMatchObject({
      before: { state: 'SLOT_BOOKING_STATE_EXPIRED' },
      after: { state: 'SLOT_BOOKING_STATE_BOOKED' },
    });
  });

  it('A hold that has run out is refused where another order has the last unit, until that is released', async () => {
    const { slotId, booking } = await held({ capacity: 1 });
    await letBookingRunOut(api.sql, booking.id);
    const other = await api.guest.book({ slotId, orderKey: newOrderKey() });
    expect(other.booked).toBe(true);
    await expectError(confirm(booking.id), 'HOLD_EXPIRED');
    await api.guest.release({ bookingId: other.booking?.id });
    expect((await confirm(booking.id)).booking?.state).toBe(SlotBookingState.BOOKED);
  });

  it.each(closedSlots)('A hold that has run out is refused where the slot is %j', async (columns) => {
    const { slotId, booking } = await held();
    await letBookingRunOut(api.sql, booking.id);
    await change(api.sql, slotId, columns);
    await expectError(confirm(booking.id), 'HOLD_EXPIRED');
  });

  it('A hold that has run out is refused where the order has a booking of the slot again, or the slot is gone', async () => {
    const { slotId, order, booking } = await held();
    await letBookingRunOut(api.sql, booking.id);
    const again = await api.guest.book(order);
    await expectError(confirm(booking.id), 'HOLD_EXPIRED');
    await api.guest.release({ bookingId: again.booking?.id });
    await api.sql('delete from slots where id = $1', [slotId]);
    await expectError(confirm(booking.id), 'HOLD_EXPIRED');
  });

  it('A released booking and an unknown one are errors', async () => {
    const { booking } = await held();
    await api.guest.release({ bookingId: booking.id });
    await expectError(confirm(booking.id), 'BOOKING_RELEASED');
    await expectError(confirm(999_999), 'BOOKING_NOT_FOUND');
  });

  it('It requests a store refresh only where it fills the slot again', async () => {
    const { slotId, booking } = await held({ capacity: 1 });
    const requests = () => requestsOf(api, (options) => api.guest.confirm({ bookingId: booking.id }, options));
    expect(await requests()).toBe(0);
    await api.sql(`update slot_bookings set state = 'HELD' where id = $1`, [booking.id]);
    await letBookingRunOut(api.sql, booking.id);
    expect(await requests()).toBe(1);
    await change(api.sql, slotId, { capacity: 2 });
    await api.sql(`update slot_bookings set state = 'HELD' where id = $1`, [booking.id]);
    await letBookingRunOut(api.sql, booking.id);
    expect(await requests()).toBe(0);
  });
});
