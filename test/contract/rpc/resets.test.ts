import { once } from 'node:events';
import { constants } from 'node:http2';
import { connect } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GetDeliverySequenceRequestSchema, SlotService } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { cautionDelayMs, maxOpenServiceRequestBytes } from '../../../shared/rpc/limits/limits.ts';
import { type ScriptedServer, startScriptedServer } from '../../integration/scripted-server.ts';
import { grpcFrame, openSession, untilClosed } from '../../load/overload-wire.ts';
import { createGrpcJsTransport } from '../../support/grpc-transport.ts';
import { resetAll, resetWith } from '../../support/http2-frames.ts';
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

  const headersOf = (authorization: string | undefined) => ({
    ...{ ':method': 'POST', ':path': '/slot.v1.SlotService/GetDeliverySequence', 'content-type': 'application/grpc' },
    te: 'trailers',
    ...(authorization !== undefined && { authorization }),
  });

  function call(session: Session, authorization: string | undefined, body: Uint8Array, more = {}) {
    const stream = session.request({ ...headersOf(authorization), ...more });
    stream.on('error', () => undefined);
    stream.resume().end(body);
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
  const untilRead = (session: Session) =>
    new Promise<void>((resolve) => {
      if (session.destroyed) resolve();
      else session.ping(() => resolve());
    });

  /** Nine are beyond a caller's share of the memory for requests. */
  const large = grpcFrame(
    toBinary(GetDeliverySequenceRequestSchema, create(GetDeliverySequenceRequestSchema, { id: 'x'.repeat(3_900_000) })),
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

  describe('A connection with many requests that are reset at once', () => {
    const small = grpcFrame(
      toBinary(GetDeliverySequenceRequestSchema, create(GetDeliverySequenceRequestSchema, { id: '1' })),
    );
    const works: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => works.push(resolve));
    let nowMs = 0;
    beforeEach(async () => {
      // All resets come at once, on a busy machine too.
      nowMs = 1_000_000;
      vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
      works.length = 0;
      server = await startScriptedServer(SlotService, { unary: work }, everybody);
    });
    afterEach(() => {
      vi.restoreAllMocks();
    });

    /** Makes calls and resets them once all have begun. Resolves when the server has read that. */
    async function resetCalls(
      session: Session,
      count: number,
      authorization: string | undefined,
      ageMs = 0,
      more = {},
    ) {
      const begun = server.calls.length;
      const streams = Array.from({ length: count }, () => call(session, authorization, small, more));
      await expect.poll(() => server.calls.length).toBe(begun + count);
      nowMs += ageMs;
      for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
      await untilRead(session);
    }

    async function openCounted() {
      const session = await open();
      const told = { goaways: 0 };
      session.on('goaway', () => (told.goaways += 1));
      return { session, told };
    }

    it('It takes no more of them once a caller has reset 100, those that it has end, and a new one waits', async () => {
      const { session, told } = await openCounted();
      const kept = call(session, 'rash', small);
      await expect.poll(() => works.length).toBe(1);
      await resetCalls(session, 50, 'rash');
      await resetCalls(session, 50, 'rash');
      expect(told.goaways).toBe(0);
      await resetCalls(session, 1, 'rash');
      await expect.poll(() => told.goaways).toBe(1);
      works[0]?.();
      expect(await endOf(kept)).toBe('0');
      await expect.poll(() => session.destroyed).toBe(true);
      const closedAtMs = Date.now();
      await open();
      expect(Date.now() - closedAtMs).toBeGreaterThanOrEqual(cautionDelayMs - 1);
    });

    it('It takes no more of them once a client without a credential has reset 10', async () => {
      const { session, told } = await openCounted();
      await resetCalls(session, 10, undefined);
      expect(told.goaways).toBe(0);
      await resetCalls(session, 1, undefined);
      await expect.poll(() => told.goaways).toBe(1);
    });

    it('It stays when they come over a longer time, and when each was open for 100 ms', async () => {
      const { session, told } = await openCounted();
      for (let n = 0; n < 3; n += 1) {
        await resetCalls(session, 90, 'patient');
        nowMs += 9_000;
      }
      for (let n = 0; n < 3; n += 1) await resetCalls(session, 90, 'patient', 100);
      expect(told.goaways).toBe(0);
    });

    it('It stays when the service resets them', async () => {
      const { session, told } = await openCounted();
      for (let n = 0; n < 101; n += 1) {
        const stream = session.request({ ...headersOf('greedy'), ':path': '/grpc.health.v1.Health/Check' });
        stream.on('error', () => undefined);
        stream.resume().end(grpcFrame(Buffer.alloc(maxOpenServiceRequestBytes)));
        expect(await endOf(stream)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      }
      expect(told.goaways).toBe(0);
    });

    it('It is closed, and nothing is executed, when each reset comes together with its request', async () => {
      const socket = connect(Number(server.address.split(':')[1]), '127.0.0.1');
      const headers = { ':scheme': 'http', ':authority': 'localhost', ...headersOf('rash') };
      await resetAll(socket, headers, small, 0);
      expect(server.calls).toEqual([]);
    });

    it('The process goes on when clients reset what waits meanwhile, requests and connections', async () => {
      const port = Number(server.address.split(':')[1]);
      const headers = { ':scheme': 'http', ':authority': 'localhost', ...headersOf('rash') };
      await resetAll(connect(port, '127.0.0.1'), headers, small, 0);
      const gone = connect(port, '127.0.0.1', () => gone.resetAndDestroy());
      const early = connect(port, '127.0.0.1');
      resetWith(early, headers, constants.NGHTTP2_INTERNAL_ERROR);
      await once(early, 'data');
      const next = call(await open(), 'calm', small);
      await expect.poll(() => works.length).toBe(1);
      works[0]?.();
      expect(await endOf(next)).toBe('0');
    });

    it('It stays when they are reset near their deadline', async () => {
      const { session, told } = await openCounted();
      for (let n = 0; n < 3; n += 1) await resetCalls(session, 90, 'hasty', 80, { 'grpc-timeout': '150m' });
      expect(told.goaways).toBe(0);
    });

    it('A gRPC client loses no call by it', async () => {
      const connection = createGrpcJsTransport(server.address);
      const api = createClient(SlotService, connection);
      const options = { headers: { authorization: 'rash' } };
      const kept = api.getDeliverySequence({ id: '1' }, options);
      for (let n = 0; n < 3; n += 1) {
        const begun = server.calls.length;
        const aborts = Array.from({ length: 50 }, () => new AbortController());
        const calls = aborts.map(({ signal }) => api.getDeliverySequence({ id: '1' }, { ...options, signal }));
        await expect.poll(() => server.calls.length).toBeGreaterThanOrEqual(begun + 50);
        for (const abort of aborts) abort.abort();
        await Promise.allSettled(calls);
      }
      const next = api.getDeliverySequence({ id: '1' }, options);
      await expect.poll(() => works.length).toBe(152);
      for (const end of works) end();
      await Promise.all([kept, next]);
      connection.close();
    });
  });
});
