import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { credentials, Client as GrpcClient, type ServiceError } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { startSlotService } from '../../services/slot-service/service.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { expectError } from '../support/contract.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { holding, type Lock, lockSlots } from '../support/locks.ts';
import { post } from '../support/post.ts';
import { programArguments } from '../support/processes.ts';
import { viaPort } from '../support/proxy.ts';
import type { LogLine } from '../support/replica.ts';
import { readTestConfig } from '../support/service.ts';
import { createSlot, openSlot, outcomeOf, readCovering, type Written } from '../support/slot-writes.ts';
import { Stage } from '../support/stage.ts';
import { signToken, testSecret, withToken } from '../support/tokens.ts';

interface Started extends RunningService {
  readonly stage: Stage;
  readonly log: LogLine[];
  /** The token of staff user 1. */
  readonly token: string;
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
}

/** A service in this process, which the test stops. */
async function start(variables: Readonly<Record<string, string>> = {}): Promise<Started> {
  const stage = await Stage.open();
  const config = readTestConfig('slot', {
    DATABASE_URL: stage.database.url,
    STORE_REFRESH_DELAY_MS: '100',
    ...variables,
  });
  const log: LogLine[] = [];
  const logger = createLogger('slot-service', 'info', { write: (line) => void log.push(JSON.parse(line)) });
  const service = await startSlotService(config, logger);
  const transport = createGrpcJsTransport(`127.0.0.1:${service.grpcPort}`);
  onTestFinished(async () => {
    transport.close();
    await service.stop();
    await stage.close();
  });
  const token = await signToken({ staffId: 1 });
  const staff = withToken(transport, token);
  const clients = { slots: createClient(SlotService, staff), stores: createClient(SlotStoreService, staff) };
  return { ...service, ...clients, stage, log, token };
}

/** The steps of the shutdown that did not end before their deadline. */
const failedSteps = ({ log }: Started) => log.filter(({ msg }) => msg === 'a step of the shutdown failed');

// A refresh may wait for the lock, too.
const createSlotPattern = '%insert into slots%';

const bytes = (value: Buffer) => value;
const reflectionPath = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const listServices = Buffer.from([0x3a, 0]);

/** A stream that its client leaves open. */
function leaveOpen({ grpcPort }: Started, kind: 'watch' | 'reflection') {
  const client = new GrpcClient(`127.0.0.1:${grpcPort}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  const { Watch: watch } = healthService;
  if (watch === undefined) throw new Error('the health service has no watch');
  const openReflection = () => {
    const call = client.makeBidiStreamRequest(reflectionPath, bytes, bytes);
    call.write(listServices);
    return call;
  };
  const openWatch = () =>
    client.makeServerStreamRequest(watch.path, watch.requestSerialize, watch.responseDeserialize, { service: '' });
  const call = kind === 'watch' ? openWatch() : openReflection();
  const got: unknown[] = [];
  call.on('data', (message: unknown) => got.push(message));
  const ended = new Promise<ServiceError>((resolve) => call.once('error', resolve));
  return { got, ended, answered: once(call, 'data') };
}

const postCreateSlot = ({ webPort, token }: Started) => post(webPort, 'CreateSlot', token, JSON.stringify(openSlot()));

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

it('A service that stops does not wait for streams that clients leave open', async () => {
  const service = await start();
  const versions = service.stores.watchStore({})[Symbol.asyncIterator]();
  await versions.next();
  const [watch, reflection] = [leaveOpen(service, 'watch'), leaveOpen(service, 'reflection')];
  await Promise.all([watch.answered, reflection.answered]);
  const startedAt = performance.now();
  await service.stop();
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  expect(watch.got).toEqual([{ status: 'SERVING' }, { status: 'NOT_SERVING' }]);
  expect((await watch.ended).code).toBe(Code.Unavailable);
  expect((await reflection.ended).code).toBe(Code.Unavailable);
  expect((await versions.next()).done).toBe(true);
});

it.each(['grpcPort', 'webPort'] as const)(
  'A service that stops does not wait for a connection to its %s on which nothing was sent',
  async (port) => {
    const service = await start();
    const silent = connect(service[port], '127.0.0.1').resume();
    await once(silent, 'connect');
    const startedAt = performance.now();
    await service.stop();
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(failedSteps(service)).toEqual([]);
  },
);

it('A service that stops does not wait for the HTTP/1.1 connection of a watch that it has ended', async () => {
  const service = await start();
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const transport = createConnectTransport({
    baseUrl: `http://127.0.0.1:${service.webPort}`,
    httpVersion: '1.1',
    nodeOptions: { agent },
  });
  const stores = createClient(SlotStoreService, withToken(transport, await signToken({ staffId: 1 })));
  const versions = stores.watchStore({})[Symbol.asyncIterator]();
  await versions.next();
  const startedAt = performance.now();
  await service.stop();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect((await versions.next()).done).toBe(true);
  expect(failedSteps(service)).toEqual([]);
});

it('A service that stops answers the calls in flight and takes no new ones on either port', async () => {
  const service = await start();
  const { slots, stage } = service;
  await holding(stage.database.url, lockSlots, async (lock) => {
    const calls = [slots.createSlot(openSlot()), postCreateSlot(service)] as const;
    await lock.untilAwaited(2, createSlotPattern);
    const silent = connect(service.webPort, '127.0.0.1').resume();
    await once(silent, 'connect');
    const closed = once(silent, 'close');
    const stopped = service.stop();
    for (const port of [service.grpcPort, service.webPort]) {
      await expect.poll(() => accepts(port)).toBe(false);
    }
    // Meanwhile, connections without a call are closed.
    await closed;
    // The connection of the call in flight is still open, and takes no other call.
    expect(ConnectError.from(await outcomeOf(slots.getSlots({}))).code).toBe(Code.Unavailable);
    await lock.release();
    expect((await calls[0]).slot?.id).toBeGreaterThan(0);
    const response = await calls[1];
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    await stopped;
  });
  expect(failedSteps(service)).toEqual([]);
});

it('A call that is in flight at the shutdown deadline fails as UNAVAILABLE and writes nothing', async () => {
  const service = await start();
  const { slots, stage } = service;
  await holding(stage.database.url, lockSlots, async (lock) => {
    const calls = [slots.createSlot(openSlot()), postCreateSlot(service)] as const;
    const refused = expectError(calls[0], 'STOPPING');
    await lock.untilAwaited(2, createSlotPattern);
    const startedAt = performance.now();
    await service.stop(300);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    await refused;
    const response = await calls[1];
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'unavailable' }]);
  });
  expect(failedSteps(service).map(({ step }) => step)).toEqual(['ports']);
  expect(await stage.database.sql('select from slots')).toEqual([]);
});

it('A service that stops reports that it is not ready, then serves for DRAIN_MS more', async () => {
  const service = await start({ DRAIN_MS: '700' });
  const { got, answered } = leaveOpen(service, 'watch');
  await answered;
  const startedAt = performance.now();
  const stopped = service.stop();
  await expect.poll(() => got.at(-1)).toEqual({ status: 'NOT_SERVING' });
  expect((await fetch(`http://127.0.0.1:${service.webPort}/readyz`)).status).toBe(503);
  await service.slots.getSlots({});
  const response = await post(service.webPort, 'GetSlots', service.token);
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
  await stopped;
  expect(performance.now() - startedAt).toBeGreaterThan(650);
});

/** Writes a slot. Runs `work` while the refresh waits for a lock. */
function whileRefreshing(service: Started, work: (lock: Lock) => Promise<void>): Promise<Written> {
  return holding(service.stage.database.url, 'lock table store_versions in share mode', async (lock) => {
    const written = await createSlot(service);
    await lock.untilAwaited();
    await work(lock);
    return written;
  });
}

it('A refresh that runs when its service is asked to stop is finished', async () => {
  const service = await start();
  await whileRefreshing(service, async (lock) => {
    const stopped = service.stop();
    await expect.poll(() => accepts(service.grpcPort)).toBe(false);
    await lock.release();
    await stopped;
  });
  expect(service.log.filter(({ msg }) => msg === 'stores refreshed').at(-1)).toMatchObject({ requests: 1 });
  expect(failedSteps(service)).toEqual([]);
});

it('A refresh that runs at the shutdown deadline is handed back, and another replica runs it at once', async () => {
  const service = await start();
  const other = await service.stage.start();
  // The queue decides which of the two replicas runs the job.
  const written = await whileRefreshing(service, () => service.stop(2_500));
  expect(failedSteps(service)).toEqual([]);
  // A job that nobody handed back is found after 10 s.
  expect(await readCovering(other, written, 5_000)).toContain(written.slotId);
});

it('A process that is asked to stop before it serves ends at once', async () => {
  const stage = await Stage.open();
  onTestFinished(() => stage.close());
  // It waits for the connection that hears of changes.
  const directUrl = viaPort(stage.database.url, await findFreePort());
  const child = spawn(process.execPath, programArguments('services/slot-service/main.ts'), {
    env: {
      ...process.env,
      ...{ DATABASE_URL: stage.database.url, DATABASE_DIRECT_URL: directUrl, AUTH_JWT_SECRET: testSecret },
      ...{ SLOT_GRPC_PORT: '0', SLOT_WEB_PORT: '0' },
    },
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) {
    if (line.includes('the connection for notifications failed')) break;
  }
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
