import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { type EmbeddedPostgres, startPostgres } from '../../services/dev/postgres/postgres.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { queryOnce } from '../support/postgres-server.ts';
import { noRedis, openRedis } from '../support/redis.ts';
import { Replica } from '../support/replica.ts';
import { readSequence, updateSequence } from '../support/sequences.ts';
import { createSlot, expectCaughtUp, openSlotIds, readCovering } from '../support/slot-writes.ts';
import { type Backend, insertStaffUser } from '../support/stage.ts';
import { Load } from './stores-load.ts';

/** A service that ran through the restart, with its jobs on one backend. */
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

let folder: string;
let port: number;
let server: EmbeddedPostgres | undefined;
const runs = new Map<Backend, Run>();

const startServer = () =>
  startPostgres(folder, port, new AbortController().signal, ['fsync=off', 'max_connections=100']);

async function startRun(backend: Backend, serverUrl: string): Promise<Run> {
  const name = `on_${backend.toLowerCase()}`;
  await queryOnce(serverUrl, `create database ${name}`);
  const databaseUrl = serverUrl.replace(/[^/]*$/, name);
  await migrate(databaseUrl);
  await queryOnce(databaseUrl, insertStaffUser);
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
  await Promise.all(all.map(({ load }) => load.untilSucceeding([...onDatabase, 'updateSlot'])));
  await server.stop();
  await Promise.all(all.map(({ load }) => load.untilFailing([...onDatabase, 'updateSlot'], 20)));
  server = await startServer();
  await Promise.all(all.map(({ load }) => load.untilSucceeding([...onDatabase, 'updateSlot'])));
  await Promise.all(all.map(({ load }) => load.stop()));
});

afterAll(async () => {
  await Promise.all([...runs.values()].map((run) => run.stop()));
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const skipped = noRedis === undefined ? '' : ` (on Redis skipped: ${noRedis})`;

describe.each(backends)(`A restart of PostgreSQL under load, jobs on %s${skipped}`, (backend) => {
  it.each(onDatabase)('%s fails as UNAVAILABLE while PostgreSQL is away', (method) => {
    expect(runOn(backend).load.errorsOf(method)).toEqual([unavailable]);
  });

  it('updateSlot fails as Unable to Update Slot while PostgreSQL is away', () => {
    // A staff identity that is cached no longer, after 28 s, is looked up first, and fails by itself.
    const errors = runOn(backend).load.errorsOf('updateSlot');
    expect(errors).toContain('Internal: Unable to Update Slot');
    expect(errors.filter((error) => error !== unavailable)).toEqual(['Internal: Unable to Update Slot']);
  });

  it('getOpenSlots answers from memory while PostgreSQL is away', () => {
    const { load } = runOn(backend);
    expect(load.errorsOf('getOpenSlots')).toEqual([]);
    expect(load.succeeded.get('getOpenSlots')).toBeGreaterThan(20);
  });
});

describe.concurrent.each(backends)('After a restart of PostgreSQL under load, jobs on %s', (backend) => {
  it('After a restart of PostgreSQL no acknowledged write is missing, and the service recovers without help', async (context) => {
    const { databaseUrl, replica, load, slotId } = runOn(backend);
    expect(load.created.length).toBeGreaterThan(10);
    await expectCaughtUp(replica, load.created, 45_000);
    // The worker and the connection for notifications work.
    for (let n = 1; n <= 3; n += 1) {
      const next = await createSlot(replica);
      context.expect(await readCovering(replica, next, 20_000)).toContain(next.slotId);
    }
    // The cache works.
    await updateSequence(replica, slotId, 2);
    await queryOnce(databaseUrl, `update slots set delivery_sequence = '{"1": [3]}' where id = ${slotId}`);
    context.expect(await readSequence(replica, slotId)).toBe(2);
    // The sweep works.
    const [slot] = await queryOnce<{ id: number }>(
      databaseUrl,
      `with request as (insert into store_refresh_requests default values)
       insert into slots (delivery_time, freeze_time) values (now() + interval '3 d', now() + interval '2 d') returning id`,
    );
    // A request is overdue after some 8 s, and the sweep looks every 5 s.
    await context.expect.poll(() => openSlotIds(replica), { timeout: 40_000 }).toContain(slot?.id);
  });
});
