import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../shared/db/migrate.ts';
import { findFreePort } from '../../shared/dev/ports.ts';
import { startPostgres } from '../../shared/dev/postgres/postgres.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { couponMutations, type Mutations, type PreparedMutation, slotMutations } from '../support/mutations.ts';
import { Replica } from '../support/replica.ts';
import { fixture } from '../support/service.ts';
import { signToken } from '../support/tokens.ts';
import { type Answered, RetryingClient } from './retrying-client.ts';

const kills = 40;
/** PostgreSQL is stopped after each so many kills. */
const killsPerStop = 8;
const callers = 8;

/** A mutation that was acknowledged. */
interface Acknowledged extends Answered {
  readonly name: string;
  readonly changes: readonly string[];
  /** Sends it once more with its key. Resolves with the answer, and whether that is a replay. */
  again(): Promise<{ answer: unknown; isReplay: boolean }>;
}

/** A PostgreSQL that can be stopped as by `pg_ctl stop -m immediate`, which is a crash, and started again. */
async function startServer() {
  const folder = await mkdtemp(path.join(tmpdir(), 'chaos-test-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  const port = await findFreePort();
  const start = () => startPostgres(folder, port, new AbortController().signal, ['fsync=off', 'max_connections=200']);
  let server = await start();
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const { url } = server;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  return {
    url,
    async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, [...values])).rows;
    },
    async crash(): Promise<void> {
      const { rows } = await pool.query<{ data_directory: string }>('show data_directory');
      const pidFile = await readFile(path.join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8');
      process.kill(Number.parseInt(pidFile, 10), 'SIGQUIT');
      await server.ended;
      server = await start();
    },
  };
}

it('Forty kills of replicas and five crashes of PostgreSQL lose no acknowledged mutation and double none', {
  timeout: 900_000,
}, async () => {
  const server = await startServer();
  await migrate(server.url);
  await server.sql(fixture);
  const token = await signToken({ staffId: 1 });
  const startReplica = (service: 'slot' | 'coupon') => Replica.start({ service, databaseUrl: server.url });
  const replicas = await Promise.all([
    startReplica('slot'),
    startReplica('coupon'),
    startReplica('slot'),
    startReplica('coupon'),
  ]);
  onTestFinished(async () => void (await Promise.all(replicas.map((replica) => replica.kill()))));
  const portsOf = (...indexes: number[]) =>
    indexes.map((index) => replicas[index]?.ports ?? { grpcPort: 0, webPort: 0 });

  const acknowledged: Acknowledged[] = [];
  const judged: string[] = [];
  let isOver = false;

  /** Makes one mutation after the other, each until it is answered. */
  async function call<Service extends DescService>(
    service: Service,
    mutations: Mutations<Client<Service>>,
    client: RetryingClient<Service>,
    first: number,
  ): Promise<void> {
    const entries = Object.entries(mutations);
    for (let n = first; !isOver; n += 1) {
      const [name, prepare] = entries[n % entries.length] ?? [];
      if (name === undefined || prepare === undefined) throw new Error(`${service.typeName} has no mutations`);
      const mutation = await prepared(() => prepare(server.sql));
      const answered = await client.mutate((api, options) => mutation.call(api, options));
      if (answered.error !== undefined) judged.push(`${name}: ${answered.error.message}`);
      const again = () => sendAgain(client, mutation, answered.key);
      acknowledged.push({ ...answered, name, changes: mutation.changes, again });
    }
  }

  const slots = new RetryingClient(SlotService, portsOf(0, 2), token);
  const coupons = new RetryingClient(CouponService, portsOf(1, 3), token);
  onTestFinished(() => slots.close());
  onTestFinished(() => coupons.close());
  const calling = Promise.all(
    Array.from({ length: callers }, (_, n) =>
      n % 2 === 0 ? call(SlotService, slotMutations, slots, n) : call(CouponService, couponMutations, coupons, n),
    ),
  );

  for (let kill = 1; kill <= kills; kill += 1) {
    const goal = acknowledged.length + callers;
    await expect.poll(() => acknowledged.length >= goal || judged.length > 0, { timeout: 60_000 }).toBe(true);
    const index = kill % replicas.length;
    const { ports } = replicas[index] ?? { ports: { grpcPort: 0, webPort: 0 } };
    // At any moment of a call.
    await pause(Math.random() * 50);
    await replicas[index]?.kill();
    if (kill % killsPerStop === 0) await server.crash();
    const service = index % 2 === 0 ? 'slot' : 'coupon';
    replicas[index] = await Replica.start({
      service,
      databaseUrl: server.url,
      ports: { grpc: ports.grpcPort, web: ports.webPort },
    });
  }
  isOver = true;
  await calling;

  expect(judged).toEqual([]);
  expect(new Set(acknowledged.map(({ name }) => name)).size).toBe(12);
  // Some were carried out, and their answers were lost.
  expect(acknowledged.some(({ attempts }) => attempts > 1)).toBe(true);
  const written = await server.sql<{ request_id: string; types: string[] }>(
    'select request_id, array_agg(resource_type order by resource_type) as types from audit_entries group by request_id',
  );
  const byKey = (rows: readonly (readonly [string, readonly string[]])[]) => Object.fromEntries(rows.toSorted());
  expect(byKey(written.map(({ request_id, types }) => [request_id, types]))).toEqual(
    byKey(acknowledged.map(({ key, changes }) => [key, changes])),
  );
  const phoneCoupons = await server.sql<{ count: string }>(
    `select count(*) from coupon_applicable_users join users on users.id = user_id
     where mobile like '6%' group by mobile`,
  );
  expect(phoneCoupons.every(({ count }) => count === '1')).toBe(true);
  for (const { answer, again } of acknowledged) expect(await again()).toEqual({ answer, isReplay: true });
});

/** Prepares a mutation; while PostgreSQL is away, again. */
async function prepared<Api>(prepare: () => Promise<PreparedMutation<Api>>): Promise<PreparedMutation<Api>> {
  for (;;) {
    try {
      return await prepare();
    } catch {
      await pause(100);
    }
  }
}

async function sendAgain<Service extends DescService>(
  client: RetryingClient<Service>,
  mutation: PreparedMutation<Client<Service>>,
  key: string,
): Promise<{ answer: unknown; isReplay: boolean }> {
  let isReplay = false;
  const answer = await client.query((api) =>
    mutation.call(api, {
      headers: { 'idempotency-key': key },
      onHeader: (headers) => {
        isReplay = headers.get('idempotent-replayed') === 'true';
      },
    }),
  );
  return { answer, isReplay };
}
