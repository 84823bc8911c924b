import { once } from 'node:events';
import { constants } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  grpcFrame,
  grpcHeaders,
  isServing,
  memoryOf,
  openSession,
  openSocket,
  post,
  startTarget,
  type Target,
} from './overload-stage.ts';

const mebibyte = 1024 * 1024;

describe('A service under attack', () => {
  let target: Target;
  let memoryBefore: number;
  beforeAll(async () => {
    target = await startTarget();
    memoryBefore = await memoryOf(target);
  });
  afterAll(() => target.stop());

  const grew = async () => (await memoryOf(target)) - memoryBefore;
  const closed = (stream: { once(event: 'close', listener: () => void): unknown }) =>
    new Promise<void>((resolve) => stream.once('close', () => resolve()));

  it('goes on after a flood of HTTP/2 resets, on each path that a server answers by itself', async () => {
    for (const method of ['GetSlots', 'NoSuchMethod']) {
      for (let connection = 0; connection < 5; connection += 1) {
        const session = await openSession(target.replica.ports.grpcPort);
        const gone = closed(session);
        const flood = () => {
          for (let at = 0; at < 100 && !session.destroyed && !session.closed; at += 1) {
            const stream = session.request(grpcHeaders(method, target.token));
            stream.on('error', () => undefined);
            stream.close(constants.NGHTTP2_CANCEL);
          }
          if (!session.destroyed) setImmediate(flood);
        };
        flood();
        // Node ends a connection that resets more than a thousand.
        await gone;
      }
    }
    expect(await isServing(target)).toBe(true);
    expect(await grew()).toBeLessThan(300);
  });

  it('inflates no gzip bomb over gRPC beyond 4 MiB, nor many messages of one call at once', async () => {
    const session = await openSession(target.replica.ports.grpcPort);
    const ask = async (body: Buffer) => {
      const stream = session.request({ ...grpcHeaders('GetSlots', target.token), 'grpc-encoding': 'gzip' });
      stream.on('error', () => undefined);
      let status: unknown;
      stream.on('response', (headers) => {
        status = headers['grpc-status'];
      });
      const gone = closed(stream);
      stream.resume();
      stream.end(body);
      await gone;
      return status ?? stream.rstCode;
    };
    const bomb = gzipSync(Buffer.alloc(256 * mebibyte));
    expect(await ask(grpcFrame(bomb, { compressed: true }))).toBe('8');
    const many = Buffer.concat(Array.from({ length: 3_000 }, () => grpcFrame(gzipSync(''), { compressed: true })));
    expect(await ask(many)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
    expect(await isServing(target)).toBe(true);
    expect(await grew()).toBeLessThan(300);
  });

  it('inflates no gzip bomb on the web port', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * mebibyte));
    const answers = Array.from({ length: 20 }, () =>
      post(target.replica.ports.webPort, 'GetSlots', target.token, bomb, { 'content-encoding': 'gzip' }),
    );
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(429);
    expect(await isServing(target)).toBe(true);
    expect(await grew()).toBeLessThan(300);
  });

  it('holds no more than its share of requests that are half sent over gRPC', async () => {
    const session = await openSession(target.replica.ports.grpcPort);
    const half = Buffer.alloc(2 * mebibyte);
    const rests = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const stream = session.request(grpcHeaders('GetSlots', target.token));
        stream.on('error', () => undefined);
        const gone = closed(stream);
        stream.write(grpcFrame(half, { length: 4 * mebibyte - 1 }));
        await Promise.race([gone, once(stream, 'drain').catch(() => gone)]);
        return stream;
      }),
    );
    await expect.poll(() => rests.filter(({ rstCode, closed }) => closed && rstCode !== 0).length).toBeGreaterThan(20);
    expect(await isServing(target)).toBe(true);
    expect(await grew()).toBeLessThan(400);
    session.destroy();
  });

  it('holds no more than its share of requests that are half sent on the web port', async () => {
    const head = (length: number) =>
      `POST /slot.v1.SlotService/GetSlots HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${target.token}\r\ncontent-length: ${length}\r\n\r\n`;
    const half = Buffer.alloc(2 * mebibyte, ' ');
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openSocket(target.replica.ports.webPort)));
    const refusals: string[] = [];
    for (const socket of sockets) {
      socket.on('data', (data: Buffer) => refusals.push(data.toString()));
      socket.write(head(4 * mebibyte));
      socket.write(half);
    }
    await expect
      .poll(() => refusals.filter((text) => text.includes('OVERLOADED') || text.includes('429')).length)
      .toBeGreaterThan(20);
    expect(await isServing(target)).toBe(true);
    expect(await grew()).toBeLessThan(400);
    for (const socket of sockets) socket.destroy();
  });

  it('refuses header sets beyond 64 KiB, and takes a query of 3,000 ids by GET', async () => {
    const socket = await openSocket(target.replica.ports.webPort);
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(80 * 1024)}\r\n\r\n`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('431');
    const ids = JSON.stringify({ slotIds: Array.from({ length: 3_000 }, (_, at) => at + 100_000) });
    const url = `http://127.0.0.1:${target.replica.ports.webPort}/slot.v1.SlotService/GetSlotsProductIds?connect=v1&encoding=json&message=${encodeURIComponent(ids)}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${target.token}` } });
    await response.text();
    expect(response.status).not.toBe(431);
    const session = await openSession(target.replica.ports.grpcPort);
    const stream = session.request({ ...grpcHeaders('GetSlots', target.token), 'x-large': 'x'.repeat(80 * 1024) });
    stream.on('error', () => undefined);
    await closed(stream);
    session.destroy();
    expect(await isServing(target)).toBe(true);
  });
});
