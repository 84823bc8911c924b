import { expect, it } from 'vitest';
import { addSlot, change, closedSlots, letBookingRunOut, newOrderKey } from '../../support/bookings.ts';
import { bookingContract, expectError, expectInvalidField } from '../../support/contract.ts';

bookingContract('GetAvailability', (api) => {
  const availabilityOf = async (...slotIds: number[]) => (await api.guest.getAvailability({ slotIds })).slots;
  const book = (slotId: number, units: number) => api.guest.book({ slotId, orderKey: newOrderKey(), units });

  it('Slots are told once each, in the order asked, and whether they exist', async () => {
    const [counted, other] = [await addSlot(api.sql), await addSlot(api.sql, { capacity: null })];
    await book(counted, 4);
    await book(other, 4);
    const [first, missing, second, ...more] = await availabilityOf(other, 999_999, counted, other);
    expect(more).toEqual([]);
    expect(first).toMatchObject({ slotId: other, exists: true, isOpen: true });
    expect([first?.capacity, first?.booked, first?.remaining]).toEqual([undefined, undefined, undefined]);
    expect(missing).toMatchObject({ slotId: 999_999, exists: false, isOpen: false });
    expect(second).toMatchObject({
      slotId: counted,
      exists: true,
      isOpen: true,
      capacity: 10,
      booked: 4,
      remaining: 6,
    });
  });

  it.each(closedSlots)('A slot of %j exists and is not open', async (columns) => {
    const slotId = await addSlot(api.sql, columns);
    expect(await availabilityOf(slotId)).toMatchObject([{ exists: true, isOpen: false }]);
  });

  it('A slot is closed by count, also below what is booked, and open as soon as a hold has run out', async () => {
    const slotId = await addSlot(api.sql, { capacity: 4 });
    const { booking } = await book(slotId, 1);
    await book(slotId, 3);
    expect(await availabilityOf(slotId)).toMatchObject([{ isOpen: false, booked: 4, remaining: 0 }]);
    await change(api.sql, slotId, { capacity: 2 });
    expect(await availabilityOf(slotId)).toMatchObject([{ isOpen: false, capacity: 2, booked: 4, remaining: 0 }]);
    await change(api.sql, slotId, { capacity: 4 });
    await letBookingRunOut(api.sql, booking?.id);
    expect(await availabilityOf(slotId)).toMatchObject([{ isOpen: true, booked: 3, remaining: 1 }]);
  });

  it('No slot, and more than 1,000, are refused; and a caller without a token', async () => {
    await expectInvalidField(availabilityOf(), 'slot_ids');
    await expectInvalidField(availabilityOf(...Array.from({ length: 1_001 }, (_id, at) => at)), 'slot_ids');
    await expectError(api.as(undefined).getAvailability({ slotIds: [1] }), 'AUTHENTICATION_REQUIRED');
  });
});
