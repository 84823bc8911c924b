import { randomUUID } from 'node:crypto';
import { fromJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding } from '../support/locks.ts';
import { addSlot } from '../support/mutations.ts';
import { asServiceRole } from '../support/postgres.ts';
import { updateSequence } from '../support/sequences.ts';
import { startTestService } from '../support/service.ts';
import { createSlot } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { signToken, withToken } from '../support/tokens.ts';

async function openStage(): Promise<Stage> {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  return stage;
}

const insertEntries = `insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after)
  select now() - $2 * interval '1 day', 'p', 's', 'r', type, n, '{}'
  from generate_series(1, $1::integer) as n, unnest(array['slot', 'user']) as type`;

it('Keys and audit entries are swept once their time has passed, and the others are kept', async () => {
  const stage = await openStage();
  const { sql } = stage.database;
  await sql(insertEntries, [2_500, 3]);
  await sql(insertEntries, [10, 1.5]);
  await sql(`insert into idempotency_keys (id, request, answer, created_at)
    select sha256(n::text::bytea), '', '', now() - n * interval '1 minute' from generate_series(1, 200) as n`);
  await sql('update audit_retention set days = 2');
  await stage.start({ databaseUrl: asServiceRole(stage.database.url), env: { IDEMPOTENCY_TTL_HOURS: '2' } });
  const counts = `select (select count(*)::integer from audit_entries) as entries,
    (select count(*)::integer from idempotency_keys) as keys`;
  await expect.poll(async () => (await sql(counts))[0]).toEqual({ entries: 20, keys: 119 });
});

it('Audit entries are kept for ever unless their time is limited', async () => {
  const stage = await openStage();
  const { sql } = stage.database;
  await sql(insertEntries, [1, 10_000]);
  await sql(
    `insert into idempotency_keys (id, request, answer, created_at) values ('x', '', '', now() - interval '25 hours')`,
  );
  await stage.start();
  await expect.poll(() => sql('select id from idempotency_keys')).toEqual([]);
  expect(await sql('select id from audit_entries')).toHaveLength(2);
});

it("The services' role can neither change nor delete audit entries, and sweep none before their retention has passed", async () => {
  const stage = await openStage();
  await stage.database.sql(insertEntries, [2, 5]);
  await stage.database.sql('update audit_retention set days = 6');
  const role = new pg.Client({ connectionString: asServiceRole(stage.database.url) });
  await role.connect();
  onTestFinished(() => role.end());
  for (const change of [
    'update audit_entries set subject = subject',
    'delete from audit_entries',
    'truncate audit_entries',
    'update audit_retention set days = 1',
    'delete from audit_retention',
    "insert into audit_entries (at, procedure, subject, request_id, resource_type, resource_id, after) values (now(), '', '', '', '', 1, '{}')",
  ]) {
    await expect(role.query(change), change).rejects.toThrow('permission denied');
    await expect(role.query(`set audit.sweeping = 'on'; ${change}`), change).rejects.toThrow('permission denied');
  }
  const { rows } = await role.query(`select sweep_audit_entries('infinity', 1000) as swept`);
  expect(rows).toEqual([{ swept: 0 }]);
});

it("Nothing of the services' role runs with the rights of the owner in a sweep", async () => {
  const stage = await openStage();
  await stage.database.sql(insertEntries, [2, 3]);
  await stage.database.sql('update audit_retention set days = 1');
  const role = new pg.Client({ connectionString: asServiceRole(stage.database.url) });
  await role.connect();
  onTestFinished(() => role.end());
  await role.query(`create temp table audit_entries (resource_type text, at timestamptz);
    insert into audit_entries values ('slot', '2000-01-01')`);
  expect((await role.query(`select sweep_audit_entries(now(), 10) as swept`)).rows).toEqual([{ swept: 4 }]);
  expect((await role.query('select from pg_temp.audit_entries')).rowCount).toBe(1);
});

it('A service that connects as the owner sets the retention, and one that does not warns', async () => {
  const stage = await openStage();
  await stage.start({ env: { AUDIT_RETENTION_DAYS: '9' } });
  expect(await stage.database.sql('select days from audit_retention')).toEqual([{ days: 9 }]);
  const service = await startTestService('slot', () => ({ auditRetentionDays: 3 }));
  onTestFinished(() => service.stop());
  expect(service.log).toContainEqual(expect.objectContaining({ days: null, AUDIT_RETENTION_DAYS: 3 }));
  expect(await service.database.sql('select days from audit_retention')).toEqual([{ days: null }]);
});

it('A key is good on every replica', async () => {
  const stage = await openStage();
  const [one, two] = await Promise.all([stage.start(), stage.start()]);
  const headers = { 'idempotency-key': randomUUID() };
  const request = { deliveryTime: '2030-01-02', freezeTime: '2030-01-01' };
  const first = await one.slots.createSlot(request, { headers });
  expect(await two.slots.createSlot(request, { headers })).toEqual(first);
});

it('A repeat that a lock holds up until its statement is ended gets the stored answer', async () => {
  const service = await startTestService('slot', ({ database }) => ({
    database: { ...database, statementTimeoutMs: 2_000 },
  }));
  onTestFinished(() => service.stop());
  const connection = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  onTestFinished(() => connection.close());
  const slots = createClient(SlotService, withToken(connection, await signToken({ staffId: 1 })));
  const slotId = await addSlot(service.database.sql);
  const update = () => slots.updateSlotProducts({ slotId, productIds: [9] }, { headers: { 'idempotency-key': 'key' } });
  const first = await update();
  const repeated = await holding(service.database.url, `select from slots where id = ${slotId} for update`, update);
  expect(repeated).toEqual(first);
});

it('An etag of a cached sequence that is refused on one replica is read anew on the other', async () => {
  const stage = await openStage();
  const [one, two] = await Promise.all([stage.start(), stage.start()]);
  const { slotId } = await createSlot(one);
  await updateSequence(one, slotId, 1);
  const { etag } = await two.slots.getDeliverySequence({ id: String(slotId) });
  // No map: the copies stay as they are.
  await one.slots.updateDeliverySequence({ id: slotId, deliverySequence: fromJson(ValueSchema, [7]) });
  await expect(one.slots.updateSlotCapacity({ slotId, isCapacityFull: true, etag })).rejects.toThrow(
    'changed meanwhile',
  );
  const { slot } = await one.slots.getSlotById({ id: slotId });
  await expect.poll(async () => (await two.slots.getDeliverySequence({ id: String(slotId) })).etag).toBe(slot?.etag);
});
