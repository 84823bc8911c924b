import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type Client, createClient } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { addSlot, change, letBookingRunOut, newOrderKey } from '../../support/bookings.ts';
import { expectError, expectInvalidField, planContract } from '../../support/contract.ts';

const week = { from: '2040-01-02', until: '2040-01-09' };
const none = { slots: 0, full: 0, capacity: 0, booked: 0, held: 0 };

planContract('GetOverview', (api) => {
  let bookings: Client<typeof SlotBookingService>;
  const overview = (asked = week) => api.staff.getOverview(asked);
  const book = (slotId: number, units: number, holdSeconds?: number) =>
    bookings.book({ slotId, units, orderKey: newOrderKey(), ...(holdSeconds !== undefined && { holdSeconds }) });

  beforeEach(() => {
    bookings = createClient(SlotBookingService, api.transportAs('staff'));
  });
  afterEach(() => api.sql('delete from slot_bookings; delete from slots'));

  it('Nothing is summed up where there are no slots, and nothing is told of webhooks that are not sent', async () => {
    const answer = await overview();
    expect(answer).toMatchObject({ ...none, closing: [], pendingRequests: 0 });
    expect([answer.unsentEntries, answer.oldestUnsentAt]).toEqual([undefined, undefined]);
  });

  it('Units are those of counted slots: booked for good, or held until a time that is ahead', async () => {
    const counted = await addSlot(api.sql);
    const other = await addSlot(api.sql, { capacity: 5 });
    await book(await addSlot(api.sql, { capacity: null }), 7, 0);
    await book(counted, 4, 0);
    await book(counted, 3);
    await book(other, 1);
    expect(await overview()).toMatchObject({ slots: 3, full: 0, capacity: 15, booked: 4, held: 4 });
    const { booking } = await book(other, 4);
    expect(await overview()).toMatchObject({ full: 1, booked: 4, held: 8 });
    await letBookingRunOut(api.sql, booking?.id);
    expect(await overview()).toMatchObject({ full: 0, booked: 4, held: 4 });
    await bookings.release({ bookingId: (await book(other, 2, 0)).booking?.id ?? 0 });
    expect(await overview()).toMatchObject({ booked: 4, held: 4 });
  });

  it('A slot is full by its mark, counted or not, and by its count, also below what is booked', async () => {
    await addSlot(api.sql, { capacity: null, is_capacity_full: true });
    await addSlot(api.sql, { is_capacity_full: true });
    const booked = await addSlot(api.sql);
    await book(booked, 5, 0);
    await change(api.sql, booked, { capacity: 4 });
    await addSlot(api.sql, { capacity: null });
    expect(await overview()).toMatchObject({ slots: 4, full: 3, capacity: 14, booked: 5 });
  });

  it('Slots are those of the half-open interval that are active', async () => {
    await addSlot(api.sql, { delivery_time: '2040-01-02Z', capacity: 1 });
    await addSlot(api.sql, { delivery_time: '2040-01-08T23:59:59.999999Z', capacity: 2 });
    await addSlot(api.sql, { delivery_time: '2040-01-01T23:59:59.999999Z', capacity: 4 });
    await addSlot(api.sql, { delivery_time: '2040-01-09Z', capacity: 8 });
    await addSlot(api.sql, { delivery_time: '2040-01-03Z', capacity: 16, is_active: false });
    expect(await overview()).toMatchObject({ slots: 2, capacity: 3 });
    expect(await overview({ from: '2040-01-02T00:00:00.001Z', until: week.until })).toMatchObject({ capacity: 2 });
    for (const until of [week.from, '2039-01-01']) expect(await overview({ ...week, until })).toMatchObject(none);
  });

  it('An interval has 8 days at most', async () => {
    expect(await overview({ from: '2040-01-01T10:00Z', until: '2040-01-09T10:00Z' })).toMatchObject(none);
    await expectInvalidField(overview({ from: '2040-01-01T10:00Z', until: '2040-01-09T10:00:00.001Z' }), 'until');
  });

  it.each(['', 'soon', '2040-02-30'])('The date "%s" is refused', async (date) => {
    await expectInvalidField(overview({ ...week, from: date }), 'from');
    await expectInvalidField(overview({ ...week, until: date }), 'until');
  });

  it('It is for staff', async () => {
    await expectError(api.guest.getOverview(week), 'ACCESS_DENIED');
  });

  it('The slots that close within two hours are listed soonest first, whatever the interval', async () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
    const closing = (freeze: number, delivery = 600, isActive = true) =>
      addSlot(api.sql, { freeze_time: at(freeze), delivery_time: at(delivery), is_active: isActive });
    const [late, soon] = [await closing(119), await closing(1)];
    const byDelivery = await closing(300, 60);
    await closing(121);
    await closing(-1);
    await closing(60, -1);
    await closing(60, 600, false);
    await api.sql('insert into product_slots select $1, 777', [soon]);
    const { closing: found } = await overview();
    expect(found.map(({ id }) => id)).toEqual([soon, byDelivery, late]);
    const [first] = found;
    const [listed] = (await api.staff.listSlots({ limit: 1_000 })).slots.filter(({ id }) => id === soon);
    expect(first).toEqual(listed);
    expect(first?.productCount).toBe(1);
  });

  it('At most 20 slots that close are listed', async () => {
    await api.sql(`insert into slots (delivery_time, freeze_time)
      select now() + interval '1 day', now() + id * interval '1 minute' from generate_series(1, 30) id`);
    const { closing } = await overview();
    const times = closing.map(({ freezeTime }) => freezeTime && timestampDate(freezeTime).getTime());
    expect(times).toHaveLength(20);
    expect(times).toEqual(times.toSorted());
  });

  it('The state of the stores is that of GetStoreStatus', async () => {
    const status = () => createClient(SlotStoreService, api.transportAs('staff')).getStoreStatus({});
    const { refreshedAt } = await status();
    expect((await overview()).refreshedAt).toEqual(refreshedAt);
    await api.sql('insert into store_refresh_requests (slot_id) select generate_series(1, 3)');
    expect((await overview()).pendingRequests).toBe((await status()).pendingRequests);
  });
});
