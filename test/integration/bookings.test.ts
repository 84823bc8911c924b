import { createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { SlotBookingService, SlotBookingState } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { addSlot, letBookingRunOut, newOrderKey, unitsOf } from '../support/bookings.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding } from '../support/locks.ts';
import { scrape } from '../support/scrape.ts';
import { startTestService, type TestService } from '../support/service.ts';
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
  await expect.poll(isOpen, { timeout: 30_000 }).toBe(true);
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
  const { booking: movable } = await bookings.book({ slotId: other, orderKey: newOrderKey() });
  const callers = await Promise.all(
    numbersTo(8).map(async (n) => createClient(SlotBookingService, await as(`orders-${n}`))),
  );
  const stranger = createClient(SlotBookingService, await as('stranger'));
  const withKey = () => ({ headers: { 'idempotency-key': newOrderKey() } });
  await holding(service.database.url, lockOf(hot), async (lock) => {
    const waiting = Promise.all([
      ...callers.flatMap((caller) => [
        ...numbersTo(5).map((n) => caller.book({ slotId: hot, orderKey: newOrderKey() }, n % 2 === 0 ? {} : withKey())),
        caller.confirm({ bookingId: booking?.id }, withKey()),
      ]),
      bookings.move({ bookingId: movable?.id, slotId: hot }),
    ]);
    await lock.untilAwaited();
    for (let n = 0; n < 20; n += 1) {
      const { slots } = await stranger.getAvailability({ slotIds: [hot, other] });
      expect(slots).toMatchObject([{ exists: true }, { exists: true }]);
      expect(await stranger.book({ slotId: other, orderKey: newOrderKey() })).toBeDefined();
    }
    expect(await lock.waiting()).toBeLessThanOrEqual(4);
    await lock.release();
    const answers = await waiting;
    expect(answers.filter((answer) => 'booked' in answer && answer.booked)).toHaveLength(9);
  });
  expect(await unitsOf(sql, hot)).toEqual({ live: 10, counted: 10 });
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
  const { value } = await scrape(service.metricsPort);
  const count = (outcome: string) => value(`slot_bookings_total{outcome="${outcome}"}`);
  expect(['held', 'booked', 'moved', 'released', 'no_room', 'closed'].map(count)).toEqual([1, 1, 1, 1, 1, 0]);
});
