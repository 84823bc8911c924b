import { createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { SlotBookingService, SlotBookingState } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { addSlot, letBookingRunOut, newOrderKey, unitsOf } from '../support/bookings.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding } from '../support/locks.ts';
import { scrape } from '../support/scrape.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { written } from '../support/slot-writes.ts';
import { signToken, withToken } from '../support/tokens.ts';

/** Starts a slot-service, on the database of another one if that is given. */
async function start(first?: TestService) {
  const service = await startTestService('slot', undefined, first?.database);
  const connection = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  onTestFinished(async () => {
    connection.close();
    await service.stop();
  });
  const as = async (subject: string) => withToken(connection, await signToken({ staffId: 1, subject }));
  const transport = await as('orders');
  return {
    service,
    sql: service.database.sql,
    as,
    bookings: createClient(SlotBookingService, transport),
    stores: createClient(SlotStoreService, transport),
  };
}

const numbersTo = (count: number) => Array.from({ length: count }, (_number, n) => n);
const lockOf = (slotId: number) => `select pg_advisory_xact_lock(hashtext('units of a slot'), ${slotId})`;

it('The sweep marks holds that have run out, and the stores show their slot again', async () => {
  const first = await start();
  const slotId = await addSlot(first.sql, { capacity: 1 });
  const { booking } = await first.bookings.book({ slotId, orderKey: newOrderKey() });
  await first.sql('insert into store_refresh_requests (slot_id) values ($1)', [slotId]);
  // A replica begins with a sweep and a refresh.
  const second = await start(first.service);
  const isOpen = async () => (await second.stores.getOpenSlots({})).slots.some(({ id }) => id === slotId);
  expect(await isOpen()).toBe(false);
  await letBookingRunOut(first.sql, booking?.id);
  const third = await start(first.service);
  await expect.poll(isOpen).toBe(true);
  expect(await first.sql('select state from slot_bookings')).toEqual([{ state: 'EXPIRED' }]);
  expect(await unitsOf(first.sql, slotId)).toEqual({ live: 0, counted: 0 });
  const entries = await first.sql(`select from audit_entries where resource_type = 'booking'`);
  expect(entries).toHaveLength(1);
  const { bookings } = await third.bookings.listBookings({ slotId });
  expect(bookings).toMatchObject([{ state: SlotBookingState.EXPIRED }]);
});

it('The sweep leaves holds of a slot that somebody counts for later, and marks the others', async () => {
  const first = await start();
  const slots = [await addSlot(first.sql), await addSlot(first.sql)] as const;
  const held = await Promise.all(slots.map((slotId) => first.bookings.book({ slotId, orderKey: newOrderKey() })));
  for (const { booking } of held) await letBookingRunOut(first.sql, booking?.id);
  // More than a statement marks, and older.
  await first.sql(
    `insert into slot_bookings (slot_id, order_key, units, state, held_until, created_at)
     select $1, 'order' || n, 1, 'HELD', now() - interval '1 hour', now() from generate_series(1, 1000) n`,
    [slots[0]],
  );
  const state = async (slotId: number) =>
    (await first.sql<{ state: string }>('select state from slot_bookings where slot_id = $1', [slotId]))[0]?.state;
  await holding(
    first.service.database.url,
    `select from slot_usage where slot_id = ${slots[0]} for update`,
    async () => {
      await start(first.service);
      await expect.poll(() => state(slots[1])).toBe('EXPIRED');
      expect(await state(slots[0])).toBe('HELD');
    },
  );
});

it('Orders that wait for the lock of one slot don’t hold all connections: other callers are served', async () => {
  const { service, sql, as, bookings } = await start();
  const [hot, other] = [await addSlot(sql), await addSlot(sql)];
  const { booking } = await bookings.book({ slotId: hot, orderKey: newOrderKey() });
  const callers = await Promise.all(
    numbersTo(8).map(async (n) => createClient(SlotBookingService, await as(`orders-${n}`))),
  );
  const movable = await Promise.all(
    callers.map(async (caller) => caller.book({ slotId: await addSlot(sql), orderKey: newOrderKey() })),
  );
  const stranger = createClient(SlotBookingService, await as('stranger'));
  const withKey = () => ({ headers: { 'idempotency-key': newOrderKey() } });
  await holding(service.database.url, lockOf(hot), async (lock) => {
    const waiting = Promise.all([
      ...callers.flatMap((caller, at) => [
        ...numbersTo(5).map((n) => caller.book({ slotId: hot, orderKey: newOrderKey() }, n % 2 === 0 ? {} : withKey())),
        caller.confirm({ bookingId: booking?.id }, withKey()),
        caller.move({ bookingId: movable[at]?.booking?.id, slotId: hot }),
      ]),
    ]);
    await lock.untilAwaited();
    for (let n = 0; n < 20; n += 1) {
      const { slots } = await stranger.getAvailability({ slotIds: [hot, other] });
      expect(slots).toMatchObject([{ exists: true }, { exists: true }]);
      expect(await stranger.book({ slotId: other, orderKey: newOrderKey() })).toBeDefined();
    }
    // Four that move, and four others.
    expect(await lock.waiting()).toBeLessThanOrEqual(8);
    await lock.release();
    const answers = await waiting;
    const isIn = (answer: object) => ['booked', 'moved'].some((field) => Reflect.get(answer, field) === true);
    expect(answers.filter(isIn)).toHaveLength(9);
  });
  expect(await unitsOf(sql, hot)).toEqual({ live: 10, counted: 10 });
});

it('A hold that is confirmed while a refresh runs that began before is not taken for run out: its slot stays full', async () => {
  const { service, sql, as, bookings, stores } = await start();
  const slots = createClient(SlotService, await as('staff'));
  const [slotId, other] = [await addSlot(sql, { capacity: 1 }), await addSlot(sql, { capacity: 1 })];
  const order = { slotId, orderKey: newOrderKey(), holdSeconds: 2 };
  let bookingId: number | undefined;
  const booked = await written(async (options) => {
    bookingId = (await bookings.book(order, options)).booking?.id;
  });
  // Its refresh would take the request that this test adds.
  await stores.getOpenSlots({}, { headers: booked });
  const isOver = async () =>
    (await sql('select from slot_bookings where created_at < clock_timestamp() - interval $$2 seconds$$')).length === 1;
  await sql('insert into store_refresh_requests (slot_id) values ($1)', [slotId]);
  let covering: { 'store-request-id': string } | undefined;
  await holding(service.database.url, 'select from store_refresh_requests for update', async (lock) => {
    // The refresh has its snapshot, and waits for the requests.
    covering = await written((options) => slots.updateSlotCapacity({ slotId: other, isCapacityFull: true }, options));
    await lock.untilAwaited();
    await bookings.confirm({ bookingId });
    await expect.poll(isOver).toBe(true);
    await lock.release();
  });
  const open = (await stores.getOpenSlots({}, { headers: covering ?? {} })).slots.map(({ id }) => id);
  expect(open).toEqual([]);
});

it('An order that is booked again within a millisecond leaves no entry without a change', async () => {
  const { sql, bookings } = await start();
  const order = { slotId: await addSlot(sql), orderKey: newOrderKey() };
  await Promise.all(numbersTo(60).map(() => bookings.book(order)));
  expect(await sql(`select after from audit_entries where resource_type = 'booking' and after::text = '{}'`)).toEqual(
    [],
  );
});

it('A call that waits for its turn at a slot ends at its deadline', async () => {
  const { service, sql, bookings } = await start();
  const slotId = await addSlot(sql);
  await holding(service.database.url, lockOf(slotId), async (lock) => {
    const calls = Array.from({ length: 8 }, () =>
      bookings.book({ slotId, orderKey: newOrderKey() }, { timeoutMs: 2_000 }),
    );
    const ended = Promise.allSettled(calls);
    await lock.untilAwaited();
    expect((await ended).map((call) => call.status === 'rejected' && call.reason.code)).toEqual(calls.map(() => 4));
  });
  expect(await bookings.book({ slotId, orderKey: newOrderKey() })).toMatchObject({ booked: true });
});

it('Bookings are counted by what calls made of them', async () => {
  const { service, sql, bookings } = await start();
  const slotId = await addSlot(sql, { capacity: 2 });
  const { booking } = await bookings.book({ slotId, orderKey: newOrderKey() });
  await bookings.book({ slotId, orderKey: newOrderKey(), units: 2 });
  await bookings.confirm({ bookingId: booking?.id });
  await bookings.confirm({ bookingId: booking?.id });
  await bookings.move({ bookingId: booking?.id, slotId: await addSlot(sql) });
  await bookings.release({ bookingId: booking?.id });
  const withKey = { headers: { 'idempotency-key': newOrderKey() } };
  const order = { slotId, orderKey: newOrderKey(), holdSeconds: 0 };
  const first = await bookings.book(order, withKey);
  await sql('update slots set is_active = false');
  // The answer is the stored one, and no refusal.
  expect(await bookings.book(order, withKey)).toEqual(first);
  const { value } = await scrape(service.metricsPort);
  const count = (outcome: string) => value(`slot_bookings_total{outcome="${outcome}"}`);
  expect(['held', 'booked', 'moved', 'released', 'no_room', 'inactive'].map(count)).toEqual([1, 2, 1, 1, 1, 0]);
});
