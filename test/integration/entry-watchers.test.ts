import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { AuditService } from '../../shared/gen/audit/v1/audit_service_pb.ts';
import { createDatabase } from '../support/database.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { asServiceRole } from '../support/postgres.ts';
import { viaPort } from '../support/proxy.ts';
import { countRoundTrips } from '../support/round-trips.ts';
import { fixture, startTestService } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';

const callers = 50;
const streamsOfEach = 20;

it('1,000 streams of 50 callers cost the statements of one', { timeout: 180_000 }, async () => {
  const database = await createDatabase();
  await database.sql(fixture);
  await database.sql(
    `insert into staff_users (id, name) select n, 'Staff ' || n from generate_series(3, ${callers}) as n`,
  );
  const counter = await countRoundTrips(Number(new URL(database.url).port), 'slot-service');
  const service = await startTestService(
    'slot',
    (config) => ({
      limits: { ...config.limits, streams: 2_000 },
      database: { ...config.database, url: viaPort(asServiceRole(database.url), counter.port) },
    }),
    database,
  );
  const left = new AbortController();
  const received: number[] = [];
  // Of grpc-js, clients of the same address would share a connection, which has 100 streams at most.
  const transports = Array.from({ length: callers }, (_caller, n) =>
    createGrpcJsTransport(`127.0.0.${n + 1}:${service.grpcPort}`),
  );
  onTestFinished(async () => {
    left.abort();
    for (const transport of transports) transport.close();
    await service.stop();
    await counter.close();
    await database.close();
  });

  const failures: unknown[] = [];
  /** Resolves when the stream has begun. */
  const open = (audit: Client<typeof AuditService>) =>
    new Promise<void>((begin) => {
      const at = received.push(0) - 1;
      const read = async () => {
        for await (const { entries } of audit.watchEntries({}, { signal: left.signal })) {
          begin();
          received[at] = (received[at] ?? 0) + entries.length;
        }
      };
      read().catch((error: unknown) => {
        if (!left.signal.aborted) failures.push(error);
        begin();
      });
    });
  const watch = async (transport: Transport, caller: number) => {
    const token = await signToken({ staffId: caller + 1, subject: `caller-${caller}` });
    const audit = createClient(AuditService, withToken(transport, token));
    for (let n = 0; n < streamsOfEach; n += 1) await open(audit);
  };
  await Promise.all(transports.map(watch));
  expect(failures).toEqual([]);

  const statements = () =>
    counter.trips
      .flatMap((trip) => trip.statements)
      .filter((name) => name.startsWith('entr') || name === 'staffUserExists');
  const before = statements().length;
  const rounds = 10;
  for (let n = 0; n < rounds; n += 1) {
    await database.sql(
      `insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after) select 'p/One', '', '', 'slot', ${n}, '{}'`,
    );
    await pause(500);
  }
  await expect.poll(() => received.filter((count) => count === rounds)).toHaveLength(callers * streamsOfEach);
  const count = (name: string) =>
    statements()
      .slice(before)
      .filter((each) => each === name).length;
  // Every identity is looked up again once it has been known for 28 s.
  await expect.poll(() => count('staffUserExists')).toBeGreaterThanOrEqual(callers);
  // The first stream of a tick reads at once; all others share a second read.
  expect(count('entriesAfter')).toBeLessThanOrEqual(3 * count('entryHorizon'));
  expect(count('staffUserExists')).toBeLessThanOrEqual(2 * callers);
});
