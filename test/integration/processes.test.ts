import { createServer } from 'node:net';
import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGrpcClient } from '../../shared/client/client.ts';
import { findFreePort } from '../../shared/dev/ports.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { isAlive, runProgram } from '../support/processes.ts';
import { type LogLine, Replica } from '../support/replica.ts';
import { scrape } from '../support/scrape.ts';
import { signToken } from '../support/tokens.ts';
import { Stage } from './stores-stage.ts';

// Each start loads the whole service: 4 s, and 20 s and more beside other work.
const startMs = 60_000;
const startsMs = 2 * startMs;
const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

describe('A service with several processes', () => {
  let database: TestDatabase;
  let replica: Replica;
  let token: string;
  let metricsPort: number;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    await database.sql(`insert into staff_users (id, name) values (1, 'Asha')`);
    token = await signToken({ staffId: 1 });
    metricsPort = await findTwoFreePorts();
    const env = { SLOT_METRICS_PORT: String(metricsPort) };
    replica = await Replica.start({ databaseUrl: database.url, processes: 2, env });
    await vi.waitFor(() => expect(replica.logged('serving')).toBe(2), { timeout: startMs });
  }, startsMs);
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });
  afterAll(async () => {
    await replica.stop();
    await database.close();
  });

  /** A client on a connection of its own. */
  const connect = () => {
    const addresses = [`127.0.0.1:${replica.ports.grpcPort}`];
    const client = createGrpcClient(SlotService, {
      addresses,
      token,
      channelOptions: { 'grpc.use_local_subchannel_pool': 1 },
    });
    open.push(client);
    return client;
  };
  const pidsOf = (lines: readonly LogLine[]) => [...new Set(lines.map(({ pid }) => Number(pid)))];

  it('shares one port among them', async () => {
    const before = replica.log.length;
    for (const client of [connect(), connect(), connect(), connect()]) await client.getSlots({});
    await expect.poll(() => pidsOf(replica.log.slice(before).filter(({ msg }) => msg === 'call')).length).toBe(2);
  });

  it('shows a delivery sequence that one changed in the answers of the others', async () => {
    const clients = [connect(), connect(), connect(), connect()];
    const [writer] = clients;
    const id = (await writer?.createSlot(times))?.slot?.id ?? 0;
    for (const client of clients) await client.getDeliverySequence({ id: String(id) });
    const changed = { 7: [3, 1, 2] };
    await writer?.updateDeliverySequence({ id, deliverySequence: fromJson(ValueSchema, changed) });
    for (const client of clients) {
      await expect
        .poll(async () => {
          const { deliverySequence } = await client.getDeliverySequence({ id: String(id) });
          return deliverySequence && toJson(ValueSchema, deliverySequence);
        })
        .toEqual(changed);
    }
  });

  it('tells of each on a metrics port of its own, one after the other', async () => {
    const scrapes = await Promise.all([scrape(metricsPort), scrape(metricsPort + 1)]);
    const seconds = scrapes.map(({ value }) => value('process_cpu_seconds_total'));
    expect(new Set(seconds).size).toBe(2);
  });

  it('goes on when one is killed, and again just after its start, and starts it anew each time', {
    timeout: 90_000,
  }, async () => {
    const serving = () => pidsOf(replica.log.filter(({ msg }) => msg === 'serving'));
    const [victim = 0, sibling = 0] = serving();
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => serving().length, { timeout: 30_000 }).toBe(3);
    process.kill(serving().at(-1) ?? 0, 'SIGKILL');
    // A connection that was handed to it just before is lost with it.
    const answers = () =>
      connect()
        .getSlots({}, { timeoutMs: 1_000 })
        .then(
          () => true,
          () => false,
        );
    await expect.poll(answers, { timeout: 15_000 }).toBe(true);
    await expect.poll(() => serving().length, { timeout: 30_000 }).toBe(4);
    expect(replica.logged('a process ended by itself and is started again')).toBe(2);
    expect(isAlive(sibling)).toBe(true);
  });

  it('stops with all of them', async () => {
    const pids = pidsOf(replica.log.filter(({ msg }) => msg === 'serving')).filter(isAlive);
    expect(pids).toHaveLength(2);
    expect(await replica.stop()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('A signal to all processes of a service', { timeout: startsMs }, () => {
  it('stops them in order, though the first one passes it on to the others', async () => {
    const database = await createDatabase();
    const drainMs = 2_000;
    const env = { DRAIN_MS: String(drainMs) };
    const replica = await Replica.start({ databaseUrl: database.url, processes: 2, env });
    try {
      await vi.waitFor(() => expect(replica.logged('serving')).toBe(2), { timeout: startMs });
      const startedAt = performance.now();
      for (const { msg, pid } of replica.log) if (msg === 'serving') process.kill(Number(pid), 'SIGTERM');
      await vi.waitFor(() => expect(replica.logged('stopping')).toBe(2));
      expect(await replica.stop()).toBe(0);
      // A second signal must not end them at once.
      expect(performance.now() - startedAt).toBeGreaterThan(drainMs);
    } finally {
      await replica.kill();
      await database.close();
    }
  });
});

describe('The death of the first of several processes', { timeout: startsMs }, () => {
  it('ends the others in order: they answer what is in flight and leave no process', async ({ onTestFinished }) => {
    const stage = await Stage.open('PostgreSQL');
    onTestFinished(() => stage.close());
    const replica = await stage.start({ processes: 2 });
    await vi.waitFor(() => expect(replica.logged('serving')).toBe(2), { timeout: startMs });
    await stage.holding('lock table slots in access exclusive mode', async (release) => {
      const inFlight = replica.slots.createSlot(times);
      await stage.untilBlocked('slot-service');
      process.kill(replica.pid, 'SIGKILL');
      await vi.waitFor(() => expect(replica.logged('stopping')).toBe(2), { timeout: 15_000 });
      await release();
      expect((await inFlight).slot?.id).toBeGreaterThan(0);
    });
    const pids = replica.log.filter(({ msg }) => msg === 'serving').map(({ pid }) => Number(pid));
    await expect.poll(() => pids.filter(isAlive), { timeout: 15_000 }).toEqual([]);
  });
});

describe('A start of several processes', { timeout: startsMs }, () => {
  it('that is refused says so once', async () => {
    const { code, stderr } = await runProgram('services/slot-service/main.ts', ['--processes', '2'], {
      DATABASE_URL: 'mysql://x',
      AUTH_JWT_SECRET: 'short',
    });
    expect(code).toBe(1);
    expect(stderr.match(/DATABASE_URL/g)).toHaveLength(1);
  });

  it.each([['0'], ['-1'], ['many'], ['65']])('refuses --processes=%s', async (count) => {
    const { code, stderr } = await runProgram('services/slot-service/main.ts', [`--processes=${count}`]);
    expect(code).toBe(1);
    expect(stderr).toContain('PROCESSES must be a whole number from 1 to 64');
  });
});

/** The first of two. */
async function findTwoFreePorts(): Promise<number> {
  for (;;) {
    const port = await findFreePort();
    const next = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      next.once('error', () => resolve(false));
      next.listen(port + 1, '0.0.0.0', () => next.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
