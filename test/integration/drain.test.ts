import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { credentials, Client as GrpcClient, type ServiceError } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startSlotService } from '../../services/slot-service/service.ts';
import { readConfig } from '../../shared/config/config.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { expectError } from '../support/contract.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { type LogLine, withToken } from '../support/replica.ts';
import { signToken, testSecret } from '../support/tokens.ts';
import { eventually, Stage } from './stores-stage.ts';
import { openSlot, outcomeOf, readCovering, type Written } from './stores-writes.ts';

interface Started extends RunningService {
  readonly stage: Stage;
  readonly log: LogLine[];
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
}

/** A service in this process, which a test stops by itself. */
async function start(variables: Readonly<Record<string, string>> = {}): Promise<Started> {
  const stage = await Stage.open('PostgreSQL');
  const config = readConfig('slot', {
    DATABASE_URL: stage.database.url,
    AUTH_JWT_SECRET: testSecret,
    SLOT_GRPC_PORT: '0',
    SLOT_WEB_PORT: '0',
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
  const staff = withToken(transport, await signToken({ staffId: 1 }));
  const clients = { slots: createClient(SlotService, staff), stores: createClient(SlotStoreService, staff) };
  return { ...service, ...clients, stage, log };
}

const failedSteps = ({ log }: Started) => log.filter(({ msg }) => msg === 'a step of the shutdown failed');

/** Waits until so many writes of slots wait for a lock; a refresh may wait beside them. */
const untilBlocked = ({ database }: Stage, count: number) =>
  eventually(async () => {
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and position('insert into slots' in query) > 0`;
    expect(await database.sql(waiting)).toHaveLength(count);
  });

const bytes = (value: Buffer) => value;
const reflectionPath = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const listServices = Buffer.from([0x3a, 0]);

/** A stream that its caller leaves open, and how it ended. */
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
  return { got, ended, answered: eventually(() => expect(got.length).toBeGreaterThan(0)) };
}

async function post({ webPort }: Started, method: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${webPort}/slot.v1.SlotService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await signToken({ staffId: 1 })}` },
    body: JSON.stringify(body),
  });
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

describe('A service that is asked to stop', () => {
  it('does not wait for streams that their callers leave open', async () => {
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
    'does not wait for a connection to its %s that says nothing',
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

  it('does not wait for the connection of a watch over HTTP/1.1, which it has ended', async () => {
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

  it('answers what is in flight, and takes nothing new on either port', async () => {
    const service = await start();
    const { slots, stage } = service;
    await stage.holding('lock table slots in access exclusive mode', async (release) => {
      const calls = [slots.createSlot(openSlot()), post(service, 'CreateSlot', openSlot())] as const;
      await untilBlocked(stage, 2);
      const silent = connect(service.webPort, '127.0.0.1').resume();
      await once(silent, 'connect');
      const stopped = service.stop();
      for (const port of [service.grpcPort, service.webPort]) {
        await eventually(async () => expect(await accepts(port)).toBe(false));
      }
      // Connections without a call are closed meanwhile.
      await once(silent, 'close');
      // On the connection that is still open, where the call before is.
      expect(ConnectError.from(await outcomeOf(slots.getSlots({}))).code).toBe(Code.Unavailable);
      await release();
      expect((await calls[0]).slot?.id).toBeGreaterThan(0);
      const response = await calls[1];
      expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
      await stopped;
    });
    expect(failedSteps(service)).toEqual([]);
  });

  it('ends what is in flight at its limit as UNAVAILABLE, and writes nothing of it', async () => {
    const service = await start();
    const { slots, stage } = service;
    const stopping = { code: 'Unavailable', message: 'The service is stopping', reason: 'STOPPING' } as const;
    await stage.holding('lock table slots in access exclusive mode', async () => {
      const calls = [slots.createSlot(openSlot()), post(service, 'CreateSlot', openSlot())] as const;
      const refused = expectError(calls[0], stopping);
      await untilBlocked(stage, 2);
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

  it('serves on for DRAIN_MS, after it said that it is not ready', async () => {
    const service = await start({ DRAIN_MS: '700' });
    const { got, answered } = leaveOpen(service, 'watch');
    await answered;
    const startedAt = performance.now();
    const stopped = service.stop();
    await eventually(() => expect(got.at(-1)).toEqual({ status: 'NOT_SERVING' }));
    expect((await fetch(`http://127.0.0.1:${service.webPort}/readyz`)).status).toBe(503);
    await service.slots.getSlots({});
    const response = await post(service, 'GetSlots', {});
    expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
    await stopped;
    expect(performance.now() - startedAt).toBeGreaterThan(650);
  });
});

describe('A refresh that runs when its service is asked to stop', () => {
  const lock = 'lock table store_versions in share mode';

  /** Writes a slot, whose refresh then waits for the lock. */
  async function write({ slots, stage }: Started): Promise<Written> {
    let requestId = '';
    const onHeader = (headers: Headers) => {
      requestId = headers.get('store-request-id') ?? '';
    };
    const { slot } = await slots.createSlot(openSlot(), { onHeader });
    await stage.untilBlocked('slot-service');
    return { slotId: slot?.id ?? 0, requestId };
  }

  it('is finished', async () => {
    const service = await start();
    await service.stage.holding(lock, async (release) => {
      await write(service);
      const stopped = service.stop();
      await eventually(async () => expect(await accepts(service.grpcPort)).toBe(false));
      await release();
      await stopped;
    });
    expect(service.log.filter(({ msg }) => msg === 'stores refreshed').at(-1)).toMatchObject({ requests: 1 });
    expect(failedSteps(service)).toEqual([]);
  });

  it('is handed back at the limit, and run by another replica at once', { timeout: 40_000 }, async () => {
    const service = await start();
    const other = await service.stage.start();
    const written = await service.stage.holding(lock, async () => {
      const one = await write(service);
      // Which of the two replicas runs the job is up to the queue.
      await service.stop(2_500);
      return one;
    });
    expect(failedSteps(service)).toEqual([]);
    // A job that was left behind would be found after 10 s.
    expect(await readCovering(other, written, 5_000)).toContain(written.slotId);
  });
});
