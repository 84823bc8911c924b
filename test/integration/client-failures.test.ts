import { createServer, type Http2Server } from 'node:http2';
import { create, type DescService } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Code, encodeBinaryHeader } from '@connectrpc/connect';
import { expect, it, onTestFinished } from 'vitest';
import { createGrpcClient } from '../../services/client/client.ts';
import { createChannelOptions } from '../../services/client/service-config.ts';
import type { GrpcOptions } from '../../services/client/transport.ts';
import { commonErrors, type ErrorRow, fail } from '../../shared/errors/errors.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import {
  SlotStoreService,
  type WatchStoreResponse,
  WatchStoreResponseSchema,
} from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { failureOf } from '../support/contract.ts';
import { listen } from '../support/listen.ts';
import { startProxy } from '../support/proxy.ts';
import { type Script, type ScriptedServer, startScriptedServer, untilAborted } from './scripted-server.ts';

async function startServer(service: DescService, script: Script = {}): Promise<ScriptedServer> {
  const server = await startScriptedServer(service, script);
  onTestFinished(() => server.kill());
  return server;
}
const startSlots = (script?: Script) => startServer(SlotService, script);

const opening =
  <Service extends DescService>(desc: Service) =>
  (addresses: readonly string[], options: Partial<GrpcOptions> = {}) => {
    const client = createGrpcClient(desc, { addresses, ...options });
    onTestFinished(() => client.close());
    return client;
  };
const openSlots = opening(SlotService);
const openStores = opening(SlotStoreService);

/** The idempotency keys of the calls that a server got. */
const keysOf = ({ calls }: ScriptedServer) => calls.map((call) => call.header('idempotency-key'));

function start(server: Http2Server): Promise<number> {
  onTestFinished(() => void server.close());
  return listen(server);
}

/** Fails the first calls, or all. */
const failing = (error: ErrorRow, times = Number.POSITIVE_INFINITY): Script => ({
  unary(_call, count) {
    if (count <= times) throw fail(error);
  },
});
const codeOf = async (call: Promise<unknown>) => Code[(await failureOf(call)).code];
const portOf = ({ address }: ScriptedServer) => Number(address.split(':')[1]);
const methodsOf = ({ calls }: ScriptedServer) => calls.map(({ method }) => method.name);

it('A query that fails as UNAVAILABLE is sent again', async () => {
  const server = await startSlots(failing(commonErrors.stopping, 2));
  await openSlots([server.address]).getSlots({});
  expect(methodsOf(server)).toEqual(['GetSlots', 'GetSlots', 'GetSlots']);
});

it('A query fails with the last error after four attempts', async () => {
  const server = await startSlots(failing(commonErrors.stopping));
  const error = await failureOf(openSlots([server.address]).getSlots({}));
  expect([Code[error.code], error.rawMessage]).toEqual(['Unavailable', commonErrors.stopping.message]);
  expect(server.calls).toHaveLength(4);
});

it('A mutation that fails as UNAVAILABLE is sent again with the same key', async () => {
  const server = await startSlots(failing(commonErrors.stopping));
  expect(await codeOf(openSlots([server.address]).deleteSlot({ id: 1 }))).toBe('Unavailable');
  expect(methodsOf(server)).toEqual(Array(4).fill('DeleteSlot'));
  expect(new Set(keysOf(server)).size).toBe(1);
});

it('Each mutation has a key of its own, unless its caller gives one', async () => {
  const server = await startSlots(failing(commonErrors.internal));
  const slots = openSlots([server.address]);
  await failureOf(slots.deleteSlot({ id: 1 }));
  await failureOf(slots.deleteSlot({ id: 1 }));
  await failureOf(slots.deleteSlot({ id: 1 }, { headers: { 'idempotency-key': 'my own' } }));
  await failureOf(slots.getSlotById({ id: 1 }));
  const [first, second, ...others] = keysOf(server);
  expect(first).toMatch(/^[\da-f]{32}$/);
  expect(second).not.toBe(first);
  expect(others).toEqual(['my own', undefined]);
});

it('In an outage, queries are no longer sent again after fifty failures', async () => {
  const server = await startSlots(failing(commonErrors.stopping));
  const slots = openSlots([server.address]);
  await Promise.all(Array.from({ length: 60 }, () => failureOf(slots.getSlots({}))));
  // Without the limit, each of the 60 is sent four times.
  expect(server.calls.length).toBeLessThan(120);
});

it('A query that fails with another code is not sent again', async () => {
  const server = await startSlots(failing(commonErrors.internal));
  const error = await failureOf(openSlots([server.address]).getSlots({}));
  expect([Code[error.code], server.calls.length]).toEqual(['Internal', 1]);
});

it('A call without a deadline gets one of ten seconds', async () => {
  const timeouts: unknown[] = [];
  const server = createServer((request, response) => {
    timeouts.push(request.headers['grpc-timeout']);
    response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': '12' }).end();
  });
  const slots = openSlots([`127.0.0.1:${await start(server)}`]);
  await failureOf(slots.getSlots({}));
  await failureOf(slots.getSlots({}, { timeoutMs: 0 }));
  expect(timeouts).toEqual([expect.stringMatching(/^(10000|9[5-9]\d\d)m$/), undefined]);
});

it("A call has the client's default deadline unless it names its own", async () => {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = await startSlots({ unary: () => answered });
  const slots = openSlots([server.address], { defaultTimeoutMs: 100 });
  const longer = slots.getSlots({}, { timeoutMs: 15_000 });
  expect(await codeOf(slots.getSlots({}))).toBe('DeadlineExceeded');
  answer();
  await longer;
});

it('The deadline of a call ends it on the server too', async () => {
  const server = await startSlots({ unary: (call, count) => (count === 1 ? undefined : untilAborted(call)) });
  const slots = openSlots([server.address]);
  // The first call opens the connection, which may take longer than the deadline.
  await slots.getSlots({});
  expect(await codeOf(slots.getSlots({}, { timeoutMs: 500 }))).toBe('DeadlineExceeded');
  await untilAborted(server.calls[1] ?? never());
});

it('The deadline of a call includes the wait for its token', async () => {
  const server = await startSlots();
  const slots = openSlots([server.address], { token: () => new Promise(() => undefined), defaultTimeoutMs: 100 });
  const error = await failureOf(slots.getSlots({}));
  expect([Code[error.code], server.calls.length]).toEqual(['DeadlineExceeded', 0]);
});

it('The signal of a call cancels it, before it reaches the server and while the server runs it', async () => {
  const server = await startSlots({ unary: untilAborted });
  const slots = openSlots([server.address]);
  const caller = new AbortController();
  // Without a deadline, because that would end the call on the server too.
  const running = failureOf(slots.getSlots({}, { signal: caller.signal, timeoutMs: 0 }));
  await expect.poll(() => server.calls).toHaveLength(1);
  caller.abort();
  expect(Code[(await running).code]).toBe('Canceled');
  await untilAborted(server.calls[0] ?? never());
  expect(Code[(await failureOf(slots.getSlots({}, { signal: caller.signal }))).code]).toBe('Canceled');
  expect(server.calls).toHaveLength(1);
});

it('A client with two addresses, a name and a number, calls both in turns, and goes on when one dies', async () => {
  const [one, other] = [await startSlots(), await startSlots()];
  const slots = openSlots([one.address.replace('127.0.0.1', 'localhost'), other.address]);
  const counts = () => [one.calls.length, other.calls.length];
  await expect
    .poll(async () => {
      await slots.getSlots({});
      return Math.min(...counts());
    })
    .toBeGreaterThan(0);
  const before = counts();
  for (let n = 0; n < 10; n += 1) await slots.getSlots({});
  expect(counts()).toEqual(before.map((count) => count + 5));

  one.kill();
  for (let n = 0; n < 10; n += 1) await slots.getSlots({});
  expect(one.calls).toHaveLength((before[0] ?? 0) + 5);
});

it('A query that was on a server that died is answered by the other server', async () => {
  const hanging = await startSlots({ unary: untilAborted });
  const other = await startSlots();
  const proxy = await startProxy(portOf(hanging));
  const slots = openSlots([`127.0.0.1:${proxy.port}`, other.address]);
  const answers: Promise<unknown>[] = [];
  await expect
    .poll(() => {
      answers.push(slots.getSlots({}));
      return hanging.calls.length;
    })
    .toBeGreaterThan(0);
  await proxy.cut();
  await Promise.all(answers);
});

it('A client refuses addresses that are not host and port', () => {
  for (const addresses of [[], ['localhost:1', 'localhost'], ['localhost:1', '[::1]:70000'], ['a:1', 'a:1,b:2']]) {
    expect(() => openSlots(addresses)).toThrow(TypeError);
  }
});

it('A stream whose server hangs ends as UNAVAILABLE', async () => {
  const server = await startServer(SlotStoreService, {
    async *stream(call) {
      yield create(WatchStoreResponseSchema, { version: 1 });
      await untilAborted(call);
    },
  });
  const proxy = await startProxy(portOf(server));
  onTestFinished(() => proxy.cut());
  const channelOptions = { 'grpc.keepalive_time_ms': 100, 'grpc.keepalive_timeout_ms': 100 };
  const watch = openStores([`127.0.0.1:${proxy.port}`], { channelOptions })
    .watchStore({})
    [Symbol.asyncIterator]();
  expect((await watch.next()).value).toMatchObject({ version: 1 });
  proxy.freeze();
  expect(await codeOf(watch.next())).toBe('Unavailable');
});

it('A client sends keepalive pings on a connection without calls', async () => {
  const server = createServer();
  const pinged = new Promise<void>((resolve) => {
    server.on('session', (session) => session.on('ping', () => resolve()));
  });
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
  });
  const channelOptions = { 'grpc.keepalive_time_ms': 100 };
  const slots = openSlots([`127.0.0.1:${await start(server)}`], { channelOptions });
  await failureOf(slots.getSlots({}));
  await pinged;
});

it('The default keepalive finds a server that hangs within 25 s', () => {
  const { 'grpc.keepalive_time_ms': time, 'grpc.keepalive_timeout_ms': timeout } = createChannelOptions([]);
  expect(Number(time) + Number(timeout)).toBeLessThanOrEqual(25_000);
});

it('A client takes responses of more than 4 MiB', async () => {
  const server = await startServer(SlotStoreService, {
    async *stream() {
      yield largeVersion(7, 5 * 1024 * 1024);
    },
  });
  const versions: number[] = [];
  for await (const { version } of openStores([server.address]).watchStore({})) versions.push(version);
  expect(versions).toEqual([7]);
});

it('A stream has backpressure: the server sends no faster than the client takes the messages', async () => {
  const count = 500;
  let sent = 0;
  const server = await startServer(SlotStoreService, {
    async *stream() {
      for (sent = 0; sent < count; sent += 1) {
        yield largeVersion(sent, 65_536);
      }
    },
  });
  const stores = openStores([server.address]);
  const versions: number[] = [];
  for await (const { version } of stores.watchStore({})) {
    if (version === 0) for (let n = 0; n < 200; n += 1) await stores.getStoreStatus({});
    if (version === 0) expect(sent).toBeLessThan(100);
    versions.push(version);
  }
  expect(versions).toEqual(Array.from({ length: count }, (_, n) => n));
});

it('Binary headers reach the server as the bytes that they encode', async () => {
  const server = await startSlots();
  const headers = new Headers({ 'note-bin': encodeBinaryHeader('Grüße') });
  headers.append('note-bin', encodeBinaryHeader('zwei'));
  await openSlots([server.address]).getSlots({}, { headers });
  expect(server.calls[0]?.header('note-bin')).toBe('Grüße, zwei');
});

/** A message with an unknown field of so many bytes. */
function largeVersion(version: number, bytes: number): WatchStoreResponse {
  const data = new BinaryWriter().bytes(new Uint8Array(bytes)).finish();
  const message = create(WatchStoreResponseSchema, { version });
  message.$unknown = [{ no: 100, wireType: WireType.LengthDelimited, data }];
  return message;
}

function never(): never {
  throw new Error('no call came');
}
