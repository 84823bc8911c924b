import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterEach, describe, expect, it } from 'vitest';
import { GetDeliverySequenceRequestSchema, SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService, WatchStoreResponseSchema } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { maxGivenUp, maxStrangersGivenUp } from '../../../shared/rpc/limits/limits.ts';
import { type ScriptedServer, startScriptedServer, untilAborted } from '../../integration/scripted-server.ts';
import { grpcFrame, openSession, untilClosed } from '../../load/overload-stage.ts';
import { flood } from '../../support/http2-frames.ts';
import { everybody } from '../../support/served.ts';

type Session = Awaited<ReturnType<typeof openSession>>;

describe('Requests that are reset', () => {
  let server: ScriptedServer;
  const sessions: Session[] = [];
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
    server.kill();
  });

  async function open(): Promise<Session> {
    const session = await openSession(Number(server.address.split(':')[1]));
    sessions.push(session);
    return session;
  }

  function headersOf(authorization: string | undefined, path = '/slot.v1.SlotService/GetDeliverySequence') {
    const credential = authorization === undefined ? {} : { authorization };
    return { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...credential };
  }

  function call(session: Session, authorization?: string, body: Uint8Array = Buffer.alloc(0), path?: string) {
    const stream = session.request(headersOf(authorization, path));
    stream.on('error', () => undefined);
    stream.resume().end(grpcFrame(body));
    return stream;
  }

  /** The end of a stream: its status, or else the code of its reset. */
  async function endOf(stream: ReturnType<typeof call>): Promise<unknown> {
    let status: unknown;
    stream.once('response', (headers) => (status = headers['grpc-status']));
    stream.once('trailers', (headers) => (status = headers['grpc-status']));
    await untilClosed(stream);
    return status ?? stream.rstCode;
  }

  /** Resolves once the server has read all that was sent before. */
  const untilRead = (session: Session) => new Promise<void>((resolve) => void session.ping(() => resolve()));

  /** Makes a call, and cancels it once its work has begun, or does nothing if the server has closed the connection. */
  async function giveUp(session: Session, authorization?: string): Promise<void> {
    if (session.closed) return;
    const { length } = server.calls;
    const stream = call(session, authorization);
    await expect.poll(() => server.calls.length > length || session.closed, { interval: 1 }).toBe(true);
    stream.close(constants.NGHTTP2_CANCEL);
  }

  /** Gives up calls until the server closes the connection. Returns how many there were. */
  async function giveUpAll(session: Session, authorization?: string): Promise<number> {
    let count = 0;
    for (; !session.closed; count += 1) await giveUp(session, authorization);
    return count;
  }

  const start = () => startScriptedServer(SlotService, { unary: (each) => untilAborted(each) }, everybody);

  /** Nine are beyond a caller's share of the memory for requests. */
  const large = toBinary(
    GetDeliverySequenceRequestSchema,
    create(GetDeliverySequenceRequestSchema, { id: 'x'.repeat(3_900_000) }),
  );

  it('A request that is reset holds its place until its work has ended', async () => {
    const works: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => works.push(resolve));
    server = await startScriptedServer(SlotService, { unary: work }, everybody);
    const session = await open();
    const reset = Array.from({ length: 8 }, () => call(session, 'busy', large));
    await expect.poll(() => works.length).toBe(8);
    for (const stream of reset) stream.close(constants.NGHTTP2_CANCEL);
    await untilRead(session);
    expect(await endOf(call(session, 'busy', large))).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    for (const end of works) end();
    const next = call(session, 'busy', large);
    await expect.poll(() => works.length).toBe(9);
    works.at(-1)?.();
    expect(await endOf(next)).toBe('0');
  });

  it('A caller that resets request after request is cut off, on a new connection too, and no other caller', async () => {
    server = await start();
    expect(await giveUpAll(await open(), 'rash')).toBeGreaterThan(maxGivenUp);
    expect(await giveUpAll(await open(), 'rash')).toBeLessThan(10);
    const calm = await open();
    await giveUp(calm, 'calm');
    await untilRead(calm);
    expect(calm.closed).toBe(false);
  });

  it('On a connection that callers share, the one that resets request after request is cut off alone', async () => {
    server = await start();
    const shared = await open();
    await giveUp(shared, 'calm');
    await giveUp(shared, 'rash');
    await giveUpAll(await open(), 'rash');
    expect(await endOf(call(shared, 'rash'))).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    await giveUp(shared, 'calm');
    expect(shared.closed).toBe(false);
  });

  it('A connection that leaves with its requests gives them up', async () => {
    server = await start();
    for (let connections = 0; connections < 3; connections += 1) {
      const { length } = server.calls;
      const session = await open();
      for (let count = 0; count < 50; count += 1) call(session, 'rash');
      await expect.poll(() => server.calls.length).toBe(length + 50);
      session.destroy();
    }
    await expect.poll(async () => giveUpAll(await open(), 'rash')).toBeLessThan(10);
  });

  it('A client that cancels one call of ten keeps its connection', async () => {
    server = await startScriptedServer(
      SlotService,
      { unary: (each, n) => (n % 10 === 0 ? untilAborted(each) : undefined) },
      everybody,
    );
    const session = await open();
    for (let rounds = 0; rounds < 2 * maxGivenUp; rounds += 1) {
      const calls = Array.from({ length: 9 }, () => call(session, 'gateway'));
      expect(new Set(await Promise.all(calls.map(endOf)))).toEqual(new Set(['0']));
      await giveUp(session, 'gateway');
    }
    expect(session.closed).toBe(false);
  });

  it('A client that ends streams after their first message keeps its connection', async () => {
    const first = create(WatchStoreResponseSchema);
    async function* stream(each: CallContext) {
      yield first;
      await untilAborted(each);
    }
    server = await startScriptedServer(SlotStoreService, { stream }, everybody);
    const session = await open();
    for (let count = 0; count < 2 * maxGivenUp; count += 1) {
      const watch = call(session, 'watcher', undefined, '/slot.v1.SlotStoreService/WatchStore');
      await once(watch, 'data');
      watch.close(constants.NGHTTP2_CANCEL);
    }
    await untilRead(session);
    expect(session.closed).toBe(false);
  });

  it('A connection without a credential is closed after ten resets', async () => {
    server = await startScriptedServer(SlotService, { unary: (each) => untilAborted(each) });
    const count = await giveUpAll(await open());
    expect(count).toBeGreaterThan(maxStrangersGivenUp);
    expect(count).toBeLessThan(maxGivenUp);
  });

  it.each([
    ['rash', '/slot.v1.SlotService/GetDeliverySequence'],
    [undefined, '/slot.v1.SlotService/GetDeliverySequence'],
    ['rash', '/slot.v1.SlotService/NoSuchMethod'],
    ['rash', '/grpc.health.v1.Health/Check'],
    [undefined, '/grpc.health.v1.Health/Watch'],
  ])(
    'A connection of %s that sends requests to %s with their resets is closed',
    async (authorization, path) => {
      server = await startScriptedServer(SlotService, {}, everybody);
      const socket = connect(Number(server.address.split(':')[1]), '127.0.0.1');
      // Far fewer than those after which nghttp2 itself ends a session.
      await flood(socket, 3 * maxGivenUp, {
        ':scheme': 'http',
        ':authority': 'localhost',
        ...headersOf(authorization, path),
      });
      socket.destroy();
    },
    20_000,
  );
});
