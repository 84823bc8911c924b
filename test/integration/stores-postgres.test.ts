import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { findFreePort } from '../../shared/dev/ports.ts';
import { type EmbeddedPostgres, startPostgres } from '../../shared/dev/postgres/postgres.ts';
import { noRedis, openRedis } from '../support/redis.ts';
import { Replica } from '../support/replica.ts';
import { Load } from './stores-load.ts';
import { readSequence, updateSequence } from './stores-sequences.ts';
import { type Backend, eventually, fixture } from './stores-stage.ts';
import { createSlot, expectCaughtUp, openSlotIds, readCovering } from './stores-writes.ts';

/** What ran through the restart, on one store of jobs. */
interface Run {
  readonly databaseUrl: string;
  readonly replica: Replica;
  readonly load: Load;
  readonly slotId: number;
  stop(): Promise<void>;
}

const onDatabase = ['createSlot', 'getSlotById', 'getStoreStatus'] as const;
const backends: Backend[] = noRedis === undefined ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'];
const unavailable = 'Unavailable: The database is unavailable';
const timeout = 60_000;

let folder: string;
let port: number;
let server: EmbeddedPostgres | undefined;
const runs = new Map<Backend, Run>();

const startServer = () =>
  startPostgres(folder, port, new AbortController().signal, ['fsync=off', 'max_connections=100']);

async function sql<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function startRun(backend: Backend, serverUrl: string): Promise<Run> {
  const name = `on_${backend.toLowerCase()}`;
  await sql(serverUrl, `create database ${name}`);
  const databaseUrl = serverUrl.replace(/[^/]*$/, name);
  await migrate(databaseUrl);
  await sql(databaseUrl, fixture);
  const redis = backend === 'Redis' ? await openRedis() : undefined;
  const replica = await Replica.start({ databaseUrl, redisUrl: redis?.url });
  const { slotId } = await createSlot(replica);
  await updateSequence(replica, slotId, 1);
  const load = new Load(replica, slotId);
  const stop = async () => {
    await load.stop();
    await replica.stop();
    await redis?.stop();
  };
  return { databaseUrl, replica, load, slotId, stop };
}

function runOn(backend: Backend): Run {
  const run = runs.get(backend);
  if (run === undefined) throw new Error(`nothing ran on ${backend}`);
  return run;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'restart-test-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  port = await findFreePort();
  server = await startServer();
  for (const backend of backends) runs.set(backend, await startRun(backend, server.url));
  const all = [...runs.values()];
  await Promise.all(all.map(({ load }) => load.untilSucceeding([...onDatabase, 'updateSlot'], 15_000)));
  await server.stop();
  await Promise.all(all.map(({ load }) => load.untilFailing([...onDatabase, 'updateSlot'], 20)));
  server = await startServer();
  await Promise.all(all.map(({ load }) => load.untilSucceeding([...onDatabase, 'updateSlot'], 15_000)));
  await Promise.all(all.map(({ load }) => load.stop()));
}, 120_000);

afterAll(async () => {
  await Promise.all([...runs.values()].map((run) => run.stop()));
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

const skipped = noRedis === undefined ? '' : ` (on Redis skipped: ${noRedis})`;

describe.each(backends)(`A restart of PostgreSQL under load, jobs on %s${skipped}`, (backend) => {
  it.each(onDatabase)('%s fails as UNAVAILABLE while it is away', (method) => {
    expect(runOn(backend).load.errorsOf(method)).toEqual([unavailable]);
  });

  it('updateSlot fails as Unable to Update Slot', () => {
    expect(runOn(backend).load.errorsOf('updateSlot')).toEqual(['Internal: Unable to Update Slot']);
  });

  it('getOpenSlots answers from memory all the time', () => {
    const { load } = runOn(backend);
    expect(load.errorsOf('getOpenSlots')).toEqual([]);
    expect(load.succeeded.get('getOpenSlots')).toBeGreaterThan(20);
  });
});

describe.concurrent.each(backends)('After a restart of PostgreSQL under load, jobs on %s', (backend) => {
  it('no acknowledged write is missing, and all recovers by itself', { timeout }, async (context) => {
    const { databaseUrl, replica, load, slotId } = runOn(backend);
    expect(load.created.length).toBeGreaterThan(10);
    await expectCaughtUp(replica, load.created, 45_000);
    // The worker and the connection for notifications.
    for (let n = 1; n <= 3; n += 1) {
      const next = await createSlot(replica);
      context.expect(await readCovering(replica, next, 10_000)).toContain(next.slotId);
    }
    // The cache works again.
    await updateSequence(replica, slotId, 2);
    await sql(databaseUrl, `update slots set delivery_sequence = '{"1": [3]}' where id = ${slotId}`);
    context.expect(await readSequence(replica, slotId)).toBe(2);
    // The scheduler.
    const [slot] = await sql<{ id: number }>(
      databaseUrl,
      `with request as (insert into store_refresh_requests default values)
       insert into slots (delivery_time, freeze_time) values (now() + interval '3 d', now() + interval '2 d') returning id`,
    );
    await eventually(async () => context.expect(await openSlotIds(replica)).toContain(slot?.id), 40_000);
  });
});
