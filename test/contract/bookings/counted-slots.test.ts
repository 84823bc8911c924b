import { createClient } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { AuditService } from '../../../shared/gen/audit/v1/audit_service_pb.ts';
import { SlotBookingService } from '../../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { SlotStoreService } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { letBookingRunOut, newOrderKey, unitsOf } from '../../support/bookings.ts';
import { expectInvalidField, failureOf, slotContract } from '../../support/contract.ts';
import { inDays, written } from '../../support/slot-writes.ts';

type SlotCounts = Partial<Record<'capacity' | 'windowMinutes' | 'booked', number | undefined>>;

const times = () => ({ deliveryTime: inDays(4), freezeTime: inDays(3) });

slotContract('A slot that is counted', (api) => {
  const plan = createClient(SlotPlanService, api.transportAs('staff'));
  const stores = createClient(SlotStoreService, api.transportAs('guest'));
  const bookings = createClient(SlotBookingService, api.transportAs('guest'));
  const create = async (slot: object = {}) => {
    const { slot: created } = await api.staff.createSlot({ ...times(), ...slot });
    if (created === undefined) throw new Error('no slot was created');
    return created;
  };
  const update = async (id: number, fields: object) => (await api.staff.updateSlot({ id, ...times(), ...fields })).slot;
  const countsOf = (slot?: SlotCounts) => [slot?.capacity, slot?.windowMinutes, slot?.booked];
  const book = (slotId: number, units = 1) => bookings.book({ slotId, orderKey: newOrderKey(), units });
  const entries = async (resourceId: number) => {
    const audit = createClient(AuditService, api.transportAs('staff'));
    const { entries } = await audit.listEntries({ resourceType: 'slot', resourceId });
    return entries.map(({ before, after }) => ({ before, after }));
  };
  const openSlot = async (id: number, headers: Record<string, string> = {}) =>
    (await stores.getOpenSlots({}, { headers })).slots.find((slot) => slot.id === id);

  it('It is created with a capacity and a window, and every list shows them with the units that are booked', async () => {
    const slot = await create({ capacity: 10, windowMinutes: 120, productIds: [7] });
    expect(countsOf(slot)).toEqual([10, 120, 0]);
    await book(slot.id, 3);
    const shown = [
      (await api.staff.getSlotById({ id: slot.id })).slot,
      (await api.staff.getSlots({})).slots.find(({ id }) => id === slot.id),
      (await api.staff.getAll({})).slots.find(({ id }) => id === slot.id),
      (await plan.listSlots({ deliveryFrom: inDays(0) })).slots.find(({ id }) => id === slot.id),
      (await api.staff.updateSlotCapacity({ slotId: slot.id, isCapacityFull: false })).slot,
    ];
    for (const each of shown) expect(countsOf(each)).toEqual([10, 120, 3]);
    expect((await entries(slot.id))[0]?.after).toMatchObject({ capacity: 10, windowMinutes: 120 });
  });

  it('Without a capacity and a window, or with 0, nothing is shown and the trail has neither', async () => {
    for (const fields of [{}, { capacity: 0, windowMinutes: 0 }]) {
      const slot = await create(fields);
      await book(slot.id, 3);
      expect(countsOf((await api.staff.getSlotById({ id: slot.id })).slot)).toEqual([undefined, undefined, undefined]);
      const [created] = await entries(slot.id);
      expect(created?.after).not.toHaveProperty('capacity');
      expect(created?.after).not.toHaveProperty('windowMinutes');
    }
  });

  it('UpdateSlot leaves out what it is not given, changes both, and takes both away by 0', async () => {
    const { id } = await create({ capacity: 10, windowMinutes: 120 });
    expect(countsOf(await update(id, {}))).toEqual([10, 120, 0]);
    expect(countsOf(await update(id, { capacity: 5 }))).toEqual([5, 120, 0]);
    expect(countsOf(await update(id, { windowMinutes: 60 }))).toEqual([5, 60, 0]);
    expect(countsOf(await update(id, { capacity: 0, windowMinutes: 0 }))).toEqual([undefined, undefined, undefined]);
    const [last, window, capacity] = await entries(id);
    expect(capacity).toMatchObject({ before: { capacity: 10 }, after: { capacity: 5 } });
    expect(window).toMatchObject({ before: { windowMinutes: 120 }, after: { windowMinutes: 60 } });
    expect(last?.before).toMatchObject({ capacity: 5, windowMinutes: 60 });
    expect(last?.after).not.toHaveProperty('capacity');
  });

  it('UpdateSlots sets the capacity of all slots, and takes it away by 0', async () => {
    const [one, two] = [await create({ capacity: 10 }), await create()];
    const set = (value: number) =>
      plan.updateSlots({ slots: [{ id: two.id }, { id: one.id }], change: { case: 'capacity', value } });
    const capacities = async () => [
      (await api.staff.getSlotById({ id: one.id })).slot?.capacity,
      (await api.staff.getSlotById({ id: two.id })).slot?.capacity,
    ];
    expect((await set(10)).changed).toBe(1);
    expect(await capacities()).toEqual([10, 10]);
    expect((await set(10)).changed).toBe(0);
    expect((await set(0)).changed).toBe(2);
    expect(await capacities()).toEqual([undefined, undefined]);
    expect((await entries(two.id)).slice(0, 2)).toEqual([
      { before: { capacity: 10 }, after: {} },
      { before: {}, after: { capacity: 10 } },
    ]);
  });

  it('CopySlots copies capacity and window, and no bookings', async () => {
    const { id } = await create({ capacity: 10, windowMinutes: 120 });
    await book(id, 3);
    for (const dryRun of [true, false]) {
      const { copies } = await plan.copySlots({ slotIds: [id], shiftDays: 1, dryRun });
      expect(copies.map(({ slot }) => countsOf(slot))).toEqual([[10, 120, 0]]);
      if (!dryRun)
        expect((await entries(copies[0]?.slot?.id ?? 0))[0]?.after).toMatchObject({ capacity: 10, windowMinutes: 120 });
    }
  });

  it.each<[{ capacity?: number; windowMinutes?: number }, string]>([
    [{ capacity: -1 }, 'capacity'],
    [{ capacity: 1_000_001 }, 'capacity'],
    [{ windowMinutes: -1 }, 'window_minutes'],
    [{ windowMinutes: 1_441 }, 'window_minutes'],
  ])('%j is refused: %s is out of bounds', async (wrong, field) => {
    await expectInvalidField(api.staff.createSlot({ ...times(), ...wrong }), field);
    // Every failure of UpdateSlot has one message (spec 7), but for a request that is out of bounds.
    expect((await failureOf(api.staff.updateSlot({ id: 1, ...times(), ...wrong }))).code).toBe(3);
    if (field === 'capacity') {
      const change = { case: 'capacity', value: wrong.capacity ?? 0 } as const;
      await expectInvalidField(plan.updateSlots({ slots: [{ id: 1 }], change }), field);
    }
  });

  it('The stores leave it out when bookings fill it, and show it again when a unit is free, with the units of then', async () => {
    const { id } = await create();
    const capacity = await written((options) =>
      api.staff.updateSlot({ id, ...times(), capacity: 2, windowMinutes: 60 }, options),
    );
    expect(countsOf(await openSlot(id, capacity))).toEqual([2, 60, 0]);
    const orders = [newOrderKey(), newOrderKey()] as const;
    const first = await bookings.book({ slotId: id, orderKey: orders[0] });
    const filled = await written((options) => bookings.book({ slotId: id, orderKey: orders[1] }, options));
    expect(await openSlot(id, filled)).toBeUndefined();
    const freed = await written((options) => bookings.release({ bookingId: first.booking?.id }, options));
    expect(countsOf(await openSlot(id, freed))).toEqual([2, 60, 1]);
  });

  it('The stores follow a capacity that is lowered to what is booked, raised and taken away, and the flag of staff', async () => {
    const { id } = await create({ capacity: 2 });
    await book(id);
    const isOpenAfter = async (write: Parameters<typeof written>[0]) =>
      (await openSlot(id, await written(write))) !== undefined;
    const setTo = (value: number) => (options: object) =>
      plan.updateSlots({ slots: [{ id }], change: { case: 'capacity', value } }, options);
    expect(await isOpenAfter(setTo(1))).toBe(false);
    expect(await isOpenAfter(setTo(2))).toBe(true);
    const mark = (isCapacityFull: boolean) => (options: object) =>
      api.staff.updateSlotCapacity({ slotId: id, isCapacityFull }, options);
    expect(await isOpenAfter(mark(true))).toBe(false);
    expect(await isOpenAfter(setTo(0))).toBe(false);
    expect(await isOpenAfter(mark(false))).toBe(true);
  });

  it('What other systems write into the bookings is counted', async () => {
    const { id } = await create({ capacity: 10 });
    const { booking } = await book(id, 4);
    await api.sql('update slot_bookings set units = 6 where id = $1', [booking?.id]);
    expect(await unitsOf(api.sql, id)).toEqual({ live: 6, counted: 6 });
    await letBookingRunOut(api.sql, booking?.id);
    expect((await bookings.getAvailability({ slotIds: [id] })).slots).toMatchObject([{ booked: 0, remaining: 10 }]);
    await api.sql('delete from slot_bookings where id = $1', [booking?.id]);
    expect(await unitsOf(api.sql, id)).toEqual({ live: 0, counted: 0 });
    await book(id, 4);
    await api.sql('truncate slot_bookings');
    expect(await unitsOf(api.sql, id)).toEqual({ live: 0, counted: 0 });
  });

  it('The id of a deleted user is not given again while a booking has it', async () => {
    const { id } = await create();
    await bookings.book({ slotId: id, orderKey: newOrderKey(), userId: 1 });
    await api.sql('update slot_bookings set user_id = 5000 where slot_id = $1', [id]);
    await api.sql(`select setval(pg_get_serial_sequence('users', 'id'), 4999)`);
    const [user] = await api.sql<{ id: number }>(
      `insert into users (name, mobile) values ('New', '5000') returning id`,
    );
    expect(user?.id).toBe(5001);
  });
});
