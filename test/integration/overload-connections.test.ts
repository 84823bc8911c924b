import { once } from 'node:events';
import { constants } from 'node:http2';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  grpcFrame,
  grpcHeaders,
  isServing,
  memoryOf,
  openSession,
  openSocket,
  startTarget,
  type Target,
} from './overload-stage.ts';

/** The request for the delivery sequence of slot 1. */
const slotOne = Buffer.from('\n\x011');

describe('A service with slow callers', () => {
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

  it('cuts headers that come too slowly', { timeout: 30_000 }, async () => {
    const socket = await openSocket(target.replica.ports.webPort);
    const gone = closed(socket);
    socket.resume();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n');
    await gone;
    expect(await isServing(target)).toBe(true);
  });

  it.each(['gRPC', 'web'])('goes on with 3,000 idle connections on the %s port', async (port) => {
    const at = port === 'gRPC' ? target.replica.ports.grpcPort : target.replica.ports.webPort;
    const sockets = await Promise.all(Array.from({ length: 3_000 }, () => openSocket(at)));
    expect(await isServing(target)).toBe(true);
    expect(await grew()).toBeLessThan(700);
    for (const socket of sockets) socket.destroy();
  });

  it('cuts callers who ask for large answers and do not read them', async () => {
    await target.database.sql(`
      insert into slots (id, delivery_time, freeze_time, delivery_sequence)
        select 1, now() + interval '9 days', now() + interval '8 days',
          jsonb_object_agg(u, (select jsonb_agg(100000 + i) from generate_series(1, 2000) i)) from generate_series(1, 400) u`);
    const session = await openSession(target.replica.ports.grpcPort, { initialWindowSize: 0 });
    const codes: number[] = [];
    for (let call = 0; call < 120 && codes.length === 0; call += 1) {
      const stream = session.request(grpcHeaders('GetDeliverySequence', target.token));
      stream.on('error', () => undefined);
      stream.once('close', () => codes.push(stream.rstCode ?? 0));
      stream.end(grpcFrame(slotOne));
      await Promise.race([once(stream, 'response'), closed(stream)]);
    }
    expect(codes[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();

    const sockets = [];
    let cut = 0;
    for (let caller = 0; caller < 120; caller += 1) {
      const socket = await openSocket(target.replica.ports.webPort);
      socket.once('end', () => {
        cut += 1;
      });
      socket.write(
        `POST /slot.v1.SlotService/GetDeliverySequence HTTP/1.1\r\nhost: x\r\ncontent-type: application/proto\r\n` +
          `authorization: Bearer ${target.token}\r\ncontent-length: 3\r\n\r\n${slotOne}`,
      );
      await once(socket, 'readable');
      sockets.push(socket);
    }
    // They have to be looked at; nothing tells of it before they are read.
    await pause(1_000);
    for (const socket of sockets) socket.resume();
    await expect.poll(() => cut).toBeGreaterThan(0);
    for (const socket of sockets) socket.destroy();
    expect(await grew()).toBeLessThan(900);
  });
});
