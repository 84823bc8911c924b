import { createServer } from 'node:net';
import { fromJson, toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { findFreePort } from '../../services/dev/ports.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { holding, lockSlots } from '../support/locks.ts';
import { isAlive, runProgram } from '../support/processes.ts';
import type { LogLine, Replica } from '../support/replica.ts';
import { scrape } from '../support/scrape.ts';
import { Stage } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';

const times = { deliveryTime: '2030-05-01T10:00:00Z', freezeTime: '2030-05-01T06:30:00Z' };

describe('A service with several processes', () => {
  let stage: Stage;
  let replica: Replica;
  let token: string;
  let metricsPort: number;
  const open: { close(): void }[] = [];

  beforeAll(async () => {
    stage = await Stage.open();
    token = await signToken({ staffId: 1 });
    metricsPort = await findTwoFreePorts();
    replica = await stage.start({ processes: 2, env: { SLOT_METRICS_PORT: String(metricsPort) } });
  });
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });
  afterAll(() => stage.close());

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
  it('The processes of a service share its port', async () => {
    const before = replica.log.length;
    for (const client of [connect(), connect(), connect(), connect()]) await client.getSlots({});
    await expect.poll(() => pidsOf(replica.log.slice(before).filter(({ msg }) => msg === 'call')).length).toBe(2);
  });

  it('A delivery sequence that one process changed is served by the others', async () => {
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

  it('Each process serves its metrics on a port of its own, the configured one and those after it', async () => {
    const scrapes = await Promise.all([scrape(metricsPort), scrape(metricsPort + 1)]);
    const seconds = scrapes.map(({ value }) => value('process_cpu_seconds_total'));
    expect(new Set(seconds).size).toBe(2);
  });

  it('A process that is killed, even just after its start, is started again, and the others go on', async () => {
    const serving = () => servingPids(replica);
    const [victim = 0, sibling = 0] = serving();
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => serving().length).toBe(3);
    process.kill(serving().at(-1) ?? 0, 'SIGKILL');
    // A connection that was handed to it just before its end is lost.
    const answers = () =>
      connect()
        .getSlots({}, { timeoutMs: 1_000 })
        .then(
          () => true,
          () => false,
        );
    await expect.poll(answers).toBe(true);
    await expect.poll(() => serving().length).toBe(4);
    expect(replica.logged('a process ended by itself and is started again')).toBe(2);
    expect(isAlive(sibling)).toBe(true);
  });

  it('A service that stops stops all its processes', async () => {
    const pids = servingPids(replica).filter(isAlive);
    expect(pids).toHaveLength(2);
    expect(await replica.stop()).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

it('A signal to all processes stops them in order, though the first one passes it on to the others', async () => {
  const drainMs = 2_000;
  const replica = await startTwo({ DRAIN_MS: String(drainMs) });
  const startedAt = performance.now();
  for (const pid of servingPids(replica)) process.kill(pid, 'SIGTERM');
  await expect.poll(() => replica.logged('stopping')).toBe(2);
  expect(await replica.stop()).toBe(0);
  // A second signal must not end them at once.
  expect(performance.now() - startedAt).toBeGreaterThan(drainMs);
});

it('When the first process is killed, the others answer the calls in flight and end', async () => {
  const replica = await startTwo();
  await holding(replica.databaseUrl, lockSlots, async (lock) => {
    const inFlight = replica.slots.createSlot(times);
    await lock.untilAwaited();
    process.kill(replica.pid, 'SIGKILL');
    await expect.poll(() => replica.logged('stopping')).toBe(2);
    await lock.release();
    expect((await inFlight).slot?.id).toBeGreaterThan(0);
  });
  await expect.poll(() => servingPids(replica).filter(isAlive)).toEqual([]);
});

it('A start of several processes that is refused says so once', async () => {
  const { code, stderr } = await runProgram('services/slot-service/main.ts', ['--processes', '2'], {
    DATABASE_URL: 'mysql://x',
    AUTH_JWT_SECRET: 'short',
  });
  expect(code).toBe(1);
  expect(stderr.match(/DATABASE_URL/g)).toHaveLength(1);
});

/** Starts a service of two processes, on a database of its own. */
async function startTwo(env: Readonly<Record<string, string>> = {}): Promise<Replica> {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  return stage.start({ processes: 2, env });
}

/** The ids of the processes that have served. */
function servingPids({ log }: Replica): number[] {
  return pidsOf(log.filter(({ msg }) => msg === 'serving'));
}

function pidsOf(lines: readonly LogLine[]): number[] {
  return [...new Set(lines.map(({ pid }) => Number(pid)))];
}

/** Finds two free ports in a row, and returns the first. */
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
