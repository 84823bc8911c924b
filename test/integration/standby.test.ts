import { expect, it, onTestFinished } from 'vitest';
import { startCouponService } from '../../services/coupon-service/service.ts';
import { chooseAccount } from '../../services/dev/postgres/commands.ts';
import { writePosition } from '../../shared/audit/position.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { expectError } from '../support/contract.ts';
import { describeUnless } from '../support/describe-unless.ts';
import { EntryWatch } from '../support/entry-watch.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { PostgresServer, programFolder } from '../support/postgres-server.ts';
import { readTestConfig } from '../support/service.ts';
import { signToken, withToken } from '../support/tokens.ts';
import { makeFolder } from './recovery-stage.ts';

const missing = programFolder === undefined ? 'no PostgreSQL of Debian, of the package postgresql' : undefined;
const writeEntry = `insert into audit_entries (procedure, subject, request_id, resource_type, resource_id, after)
  values ('p/One', '', '', 'coupon', 1, '{}') returning id::integer, (extract(epoch from at) * 1e6)::float8 as micros`;

describeUnless(missing, 'A service on a standby', undefined, () => {
  it('A position that a standby does not have yet is not lost, and its stream goes on once it is the primary', async () => {
    const folder = await makeFolder();
    const primary = await PostgresServer.create(folder, 'a', await chooseAccount(folder));
    onTestFinished(() => primary.kill());
    await migrate(primary.url);
    await primary.sql(`insert into staff_users (id, name) values (1, 'Asha')`);
    await primary.sql(writeEntry);
    const standby = await primary.addStandby(folder, 'b');
    onTestFinished(() => standby.kill());
    await standby.sql('select pg_wal_replay_pause()');
    const [entry = { id: 0, micros: 0 }] = await primary.sql<{ id: number; micros: number }>(writeEntry);

    const config = readTestConfig('coupon', { DATABASE_URL: standby.url });
    const service = await startCouponService(config, createLogger('coupon-service', 'silent'));
    const connection = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
    onTestFinished(async () => {
      connection.close();
      await service.stop();
    });
    const staff = withToken(connection, await signToken({ staffId: 1 }));
    const request = { position: writePosition(entry) };
    await expectError(new EntryWatch(staff, request).end, 'DATABASE_UNAVAILABLE');
    const early = new EntryWatch(staff, { position: 'oldest' });
    onTestFinished(() => early.cancel());

    await standby.sql('select pg_wal_replay_resume()');
    await standby.promote();
    const watch = await EntryWatch.open(staff, request);
    onTestFinished(() => watch.cancel());
    const [next] = await standby.sql<{ id: number }>(writeEntry);
    await Promise.all([watch.until(1), early.until(3)]);
    expect(watch.entries.map(({ id }) => Number(id))).toEqual([next?.id]);
  });
});
