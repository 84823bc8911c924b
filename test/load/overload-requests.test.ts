import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { constants } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { maxMessageBytes, maxRequestBytes } from '../../shared/rpc/limits/limits.ts';
import { post } from '../support/post.ts';
import { signToken } from '../support/tokens.ts';
import { garbageMiB, isServing, targetOf, toMiB } from './overload-stage.ts';
import { grpcFrame, grpcHeaders, openSession, openSockets, postHead, untilClosed } from './overload-wire.ts';

const mebibyte = 1024 * 1024;
const bomb = gzipSync(Buffer.alloc(256 * mebibyte));
/** So many requests of 4 MiB would take 400 MiB. */
const requests = 100;

/** A gzip message with an unknown field. 4 MiB are reserved for it until it is inflated. */
const unknownField = gzipSync(Buffer.concat([Buffer.from([0x7a, 0x80, 0x40]), randomBytes(8 * 1024)]));
/** The reservations of so many are more than 64 MiB. */
const tooMany = 20;

/** Requests that lack their last bytes. Those of gzip reserve 4 MiB each. */
const halves = [
  { name: 'of 2 MiB', half: Buffer.alloc(2 * mebibyte, ' '), encoding: 'identity' },
  { name: 'of 8 KiB of gzip', half: bomb.subarray(0, 8 * 1024), encoding: 'gzip' },
];

describe('The memory for requests', () => {
  const target = targetOf();
  /** The token of a caller that takes all its memory for requests. `isServing` calls as another one. */
  let greedy: string;
  beforeAll(async () => {
    greedy = await signToken({ subject: 'a caller that half-sends requests' });
  });
  beforeEach(() => target().measureGrowth());

  /** Sends a gzip body over gRPC. Returns the status of the response, or the code of the reset. */
  async function askOverGrpc(body: Buffer): Promise<unknown> {
    const session = await openSession(target().grpcPort);
    const stream = session.request({ ...grpcHeaders('GetSlots', target().token), 'grpc-encoding': 'gzip' });
    stream.on('error', () => undefined);
    let status: unknown;
    for (const event of ['response', 'trailers']) {
      stream.on(event, (headers) => {
        status = headers['grpc-status'] ?? status;
      });
    }
    stream.resume().end(body);
    await untilClosed(stream);
    session.destroy();
    return status ?? stream.rstCode;
  }

  it('Of a gzip bomb over gRPC, no more than 4 MiB are inflated', async () => {
    expect(await askOverGrpc(grpcFrame(bomb, { compressed: true }))).toBe('8');
    expect(await isServing(target())).toBe(true);
    expect(await target().grown()).toBeLessThan(toMiB(maxMessageBytes) + garbageMiB);
  });

  it('A unary call over gRPC with 3,000 compressed messages is UNIMPLEMENTED, and not all are inflated', async () => {
    const many = Buffer.concat(Array.from({ length: 3_000 }, () => grpcFrame(gzipSync(''), { compressed: true })));
    expect(await askOverGrpc(many)).toBe('12');
    expect(await isServing(target())).toBe(true);
    expect(await target().grown()).toBeLessThan(toMiB(maxMessageBytes) + garbageMiB);
  });

  it('Gzip bombs on the web port are refused', async () => {
    const answers = Array.from({ length: 20 }, async () => {
      const answer = await post(target().webPort, 'GetSlots', target().token, bomb, { 'content-encoding': 'gzip' });
      await answer.text();
      return answer.status;
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([429]));
    expect(await isServing(target())).toBe(true);
    expect(await target().grown()).toBeLessThan(toMiB(maxRequestBytes) + garbageMiB);
  });

  it.each(halves)(
    'Half-sent requests $name over gRPC are reset beyond the memory for requests',
    async ({ half, encoding }) => {
      const session = await openSession(target().grpcPort);
      onTestFinished(() => session.destroy());
      const errors: number[] = [];
      for (let sent = 0; sent < requests; sent += 1) {
        const stream = session.request({ ...grpcHeaders('GetSlots', greedy), 'grpc-encoding': encoding });
        stream.on('error', () => undefined);
        stream.once('close', () => errors.push(stream.rstCode ?? 0));
        const frame = { length: 4 * mebibyte - 1, compressed: encoding === 'gzip' };
        stream.write(grpcFrame(half, frame));
      }
      await expect.poll(() => errors.length).toBeGreaterThan(20);
      expect(new Set(errors)).toEqual(new Set([constants.NGHTTP2_ENHANCE_YOUR_CALM]));
      expect(await isServing(target())).toBe(true);
      expect(await target().grown()).toBeLessThan(toMiB(maxRequestBytes) + garbageMiB);
    },
  );

  it.each(halves)(
    'Half-sent requests $name on the web port are refused beyond the memory for requests',
    async ({ half, encoding }) => {
      const body = { 'content-type': 'application/json', 'content-encoding': encoding, 'content-length': 4 * mebibyte };
      const head = postHead('GetSlots', { authorization: `Bearer ${greedy}`, ...body });
      const sockets = await openSockets(target().webPort, requests);
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
      });
      const answers: string[] = [];
      for (const socket of sockets) {
        socket.once('data', (data: Buffer) => answers.push(data.toString()));
        socket.write(head);
        socket.write(half);
      }
      await expect.poll(() => answers.length).toBeGreaterThan(20);
      for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 429 .*TOO_MANY_REQUEST_BYTES/s);
      expect(await isServing(target())).toBe(true);
      expect(await target().grown()).toBeLessThan(toMiB(maxRequestBytes) + garbageMiB);
    },
  );

  /** Opens streams that send the unknown field. Returns how they began: with headers, or with a reset. */
  async function openStreams(path: string, count: number) {
    const session = await openSession(target().grpcPort);
    onTestFinished(() => session.destroy());
    const headers = { ...grpcHeaders('', target().token), ':path': path, 'grpc-encoding': 'gzip' };
    const outcomes = new Set<string>();
    for (let opened = 0; opened < count; opened += 1) {
      const stream = session.request(headers);
      stream.on('error', () => undefined);
      const answered = once(stream, 'response').then(
        () => 'answered',
        () => 'reset',
      );
      stream.end(grpcFrame(unknownField, { compressed: true }));
      outcomes.add(await Promise.race([answered, untilClosed(stream).then(() => 'reset')]));
    }
    return outcomes;
  }

  it('A stream whose response has begun holds no memory for its request', async () => {
    const outcomes = await openStreams('/slot.v1.SlotStoreService/WatchStore', tooMany);
    expect(outcomes).toEqual(new Set(['answered']));
    expect(await askOverGrpc(grpcFrame(unknownField, { compressed: true }))).toBe('0');
  });

  it.each(['/grpc.health.v1.Health/Watch', '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'])(
    'Clients without a credential may send only small requests to %s',
    async (path) => {
      const outcomes = await openStreams(path, tooMany);
      expect(outcomes).toEqual(new Set(['reset']));
      expect(await askOverGrpc(grpcFrame(unknownField, { compressed: true }))).toBe('0');
    },
  );

  it.each([
    { name: 'too large', requests: 1, type: 'application/grpc-web+proto', body: grpcFrame(Buffer.alloc(5 * mebibyte)) },
    { name: 'too much with the others', requests, type: 'application/json', body: bomb, encoding: 'gzip' },
  ])('After a request that was refused as $name, the next on its connection is answered', async (refused) => {
    async function callTwice(): Promise<number | undefined> {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const call = async (body: Buffer, headers: Record<string, string>) => {
        const { webPort: port } = target().replica.ports;
        const path = '/slot.v1.SlotService/GetSlots';
        const asking = request({ agent, port, path, method: 'POST', headers });
        asking.end(body);
        const answer = await new Promise<IncomingMessage>((resolve, reject) => {
          asking.once('response', resolve).once('error', reject);
        });
        await once(answer.resume(), 'end');
        return answer.statusCode;
      };
      const authorization = `Bearer ${target().token}`;
      const encoding = refused.encoding ?? 'identity';
      await call(refused.body, { authorization, 'content-type': refused.type, 'content-encoding': encoding });
      const status = await call(Buffer.from('{}'), { authorization, 'content-type': 'application/json' });
      agent.destroy();
      return status;
    }
    const statuses = await Promise.all(Array.from({ length: refused.requests }, callTwice));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
