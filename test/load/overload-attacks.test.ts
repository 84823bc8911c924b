import { constants } from 'node:http2';
import { beforeEach, describe, expect, it } from 'vitest';
import { maxRequestBytes } from '../../shared/rpc/limits/limits.ts';
import { onReset, openHalf, sendLarge, sendRepeated } from '../support/http2-frames.ts';
import { garbageMiB, isServing, targetOf, toMiB } from './overload-stage.ts';
import { grpcHeaders, openSession, openSocket, openSockets, postHead, untilClosed } from './overload-wire.ts';

const kibibyte = 1024;
/** Headers are held as the bytes that came, as text, and in the objects of Node. */
const copies = 3;

describe('A service under attack', () => {
  const target = targetOf();
  beforeEach(() => target().measureGrowth());

  const headers = () => grpcHeaders('GetSlots', target().token);

  it('A service survives a flood of HTTP/2 resets, for a procedure and for an unknown path', async () => {
    for (const method of ['GetSlots', 'NoSuchMethod']) {
      for (let connection = 0; connection < 5; connection += 1) {
        const session = await openSession(target().grpcPort);
        const gone = untilClosed(session);
        const flood = () => {
          for (let at = 0; at < 100 && !session.destroyed && !session.closed; at += 1) {
            const stream = session.request(grpcHeaders(method, target().token));
            stream.on('error', () => undefined);
            stream.close(constants.NGHTTP2_CANCEL);
          }
          if (!session.destroyed) setImmediate(flood);
        };
        flood();
        // Node closes a connection after a thousand resets.
        await gone;
      }
    }
    expect(await isServing(target())).toBe(true);
    expect(await target().grown()).toBeLessThan(garbageMiB);
  });

  it.each([
    { name: 'one of 80 KiB', send: sendLarge, more: { 'x-large': 'x'.repeat(80 * kibibyte) } },
    { name: 'one of 4,000 bytes, 16,000 times in a byte each', send: sendRepeated, more: {} },
  ])('A service refuses headers of more than 64 KiB over gRPC: $name', async ({ send, more }) => {
    const sockets = await openSockets(target().grpcPort, 50);
    await Promise.all(sockets.map((socket) => send(socket, { ...headers(), ...more })));
    for (const socket of sockets) socket.destroy();
    expect(await isServing(target())).toBe(true);
    expect(await target().grown()).toBeLessThan(garbageMiB);
  });

  it('The headers of gRPC requests hold no more than the memory for requests', async () => {
    const codes: number[] = [];
    const path = { ':path': '/slot.v1.SlotStoreService/WatchStore' };
    const large = { ...headers(), ...path, 'x-large': 'x'.repeat(60 * kibibyte) };
    const sockets = await openSockets(target().grpcPort, 100);
    for (const socket of sockets) {
      onReset(socket, (code) => codes.push(code));
      // Node itself refuses more than 10 MB of headers on one connection.
      openHalf(socket, 15, large);
    }
    // Of the 1,500 requests of 60 KiB, the caller's share of 64 MiB is taken.
    await expect.poll(() => codes.length).toBeGreaterThan(400);
    expect(new Set(codes)).toEqual(new Set([constants.NGHTTP2_ENHANCE_YOUR_CALM]));
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => isServing(target()).catch(() => false)).toBe(true);
    expect(await target().grown()).toBeLessThan(copies * toMiB(maxRequestBytes) + garbageMiB);
  });

  it('The headers of requests on the web port hold no more than the memory for requests', async () => {
    const refused: string[] = [];
    const sockets = await openSockets(target().webPort, 1_500);
    for (const socket of sockets) {
      socket.once('data', (data: Buffer) => refused.push(data.toString()));
      const large = { authorization: `Bearer ${target().token}`, 'x-large': 'x'.repeat(60 * kibibyte) };
      socket.write(postHead('GetSlots', { 'content-type': 'application/json', 'content-length': 10, ...large }));
    }
    await expect.poll(() => refused.length).toBeGreaterThan(400);
    for (const answer of refused) expect(answer).toMatch(/^HTTP\/1.1 429 .*TOO_MANY_REQUEST_BYTES/s);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => isServing(target()).catch(() => false)).toBe(true);
    expect(await target().grown()).toBeLessThan(copies * toMiB(maxRequestBytes) + garbageMiB);
  });

  it('A service refuses headers of more than 64 KiB on the web port', async () => {
    const socket = await openSocket(target().webPort);
    const answer = new Promise((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())));
    socket.write(`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(80 * kibibyte)}\r\n\r\n`);
    expect(await answer).toContain('431');
  });

  it('A service takes a query of 3,000 ids by GET', async () => {
    const ids = JSON.stringify({ slotIds: Array.from({ length: 3_000 }, (_, at) => at + 100_000) });
    const query = `connect=v1&encoding=json&message=${encodeURIComponent(ids)}`;
    const url = `http://127.0.0.1:${target().webPort}/slot.v1.SlotService/GetSlotsProductIds?${query}`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${target().token}` } });
    await response.text();
    expect(response.status).toBe(200);
  });
});
