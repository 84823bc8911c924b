import { createClient } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { SlotBookingService } from '../../shared/gen/slot/v1/slot_booking_service_pb.ts';
import { addSlot, newOrderKey } from '../support/bookings.ts';
import { startCrashingPostgres } from '../support/crashing-postgres.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { type Fault, noFailover } from '../support/postgres-cluster.ts';
import { fixture, startTestService } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { BookingLoad, expectCounted } from './booking-load.ts';
import { startCluster } from './cluster.ts';
import { pick } from './random-load.ts';
import { startPair } from './replica-pair.ts';

const startBookings = (databaseUrl: string, sql: TestDatabase['sql']) =>
  startPair('slot', databaseUrl, (ports, token) => new BookingLoad(ports, token, sql));

/** Expects that no slot was overbooked, and that nothing was lost or doubled, though some calls had no answer. */
async function expectSound(load: BookingLoad, sql: TestDatabase['sql']): Promise<void> {
  const { unanswered, answers } = await load.expectLinearizable();
  await expectCounted(sql);
  console.info(
    `${load.calls} calls, ${unanswered} of them without an answer; ${JSON.stringify([...answers])}; ` +
      `failures: ${JSON.stringify(load.failures)}`,
  );
  expect(unanswered).toBeGreaterThan(0);
  // A database that is away, or a standby, is no fault of the service.
  expect(load.failures.filter(([name]) => name.includes('INTERNAL'))).toEqual([]);
}

it('100,000 calls over forty kills of replicas and five crashes of PostgreSQL overbook no slot, and are linearizable', {
  timeout: 3_600_000,
}, async () => {
  const server = await startCrashingPostgres();
  const { load, runOverKills } = await startBookings(server.url, server.sql);
  await runOverKills(100_000, 40, async (n) => {
    if (n % 8 === 0) await server.crash();
  });
  await expectSound(load, server.sql);
});

describeUnless(noFailover, 'A PostgreSQL that fails over', undefined, () => {
  it('30,000 calls over twelve kills of replicas and three failovers to a synchronous standby overbook no slot, and are linearizable', {
    timeout: 1_800_000,
  }, async () => {
    const { cluster, sql } = await startCluster();
    const { load, runOverKills } = await startBookings(cluster.url, sql);
    const faults: Fault[] = ['kill', 'freeze', 'stop'];
    await runOverKills(30_000, 12, async (n) => {
      const fault = n % 4 === 0 ? faults.shift() : undefined;
      if (fault === undefined) return;
      await cluster.failOver(fault);
      await cluster.rejoin();
      await cluster.waitForStandby();
    });
    expect(faults).toEqual([]);
    await expectSound(load, sql);
  });
});

it('10,000 opposite moves by sixteen callers over two replicas meet no deadlock', { timeout: 600_000 }, async () => {
  const database = await createDatabase();
  onTestFinished(() => database.close());
  const { sql } = database;
  await sql(fixture);
  const replicas = [
    await startTestService('slot', undefined, database),
    await startTestService('slot', undefined, database),
  ];
  const token = await signToken({ staffId: 1 });
  const transports = replicas.map(({ grpcPort }) => createGrpcJsTransport(`127.0.0.1:${grpcPort}`));
  const stop = async () => {
    for (const transport of transports) transport.close();
    await Promise.all(replicas.map((replica) => replica.stop()));
  };
  onTestFinished(stop);
  const clients = transports.map((transport) => createClient(SlotBookingService, withToken(transport, token)));

  const slotIds = [await addSlot(sql, { capacity: 100 }), await addSlot(sql, { capacity: 100 })];
  const bookingIds: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    const order = { slotId: pick([slotIds[n % 2]]), orderKey: newOrderKey(), units: 1 + (n % 3), holdSeconds: 0 };
    const { booking } = await pick(clients).book(order);
    bookingIds.push(pick([booking?.id]));
  }
  const move = async (caller: number) => {
    for (let n = 0; n < 625; n += 1) {
      const slotId = pick([slotIds[(caller + n) % 2]]);
      const { moved } = await pick(clients).move({ bookingId: pick(bookingIds), slotId });
      expect(moved).toBe(true);
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_caller, index) => move(index)));

  await expectCounted(sql);
  // A backend tells its figures when it ends.
  await stop();
  const backends = `select from pg_stat_activity where datname = current_database() and application_name ~ 'slot-service'`;
  await expect.poll(() => sql(backends)).toEqual([]);
  const [figures] = await sql('select deadlocks::integer from pg_stat_database where datname = current_database()');
  expect(figures).toEqual({ deadlocks: 0 });
});
