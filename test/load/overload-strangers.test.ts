import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openHalf, sendHalf } from '../support/http2-frames.ts';
import { expectNoHarm, retries } from './bystander.ts';
import { connectionsTo, isServing, targetOf } from './overload-stage.ts';
import { grpcFrame, openSocket, openSockets, postHead, requestHeaders } from './overload-wire.ts';

const mebibyte = 1024 * 1024;
const rounds = 6;
const roundMs = 500;

describe('Strangers, who show no credential', { retry: retries }, () => {
  const target = targetOf({ env: { SLOT_METRICS_PORT: '0' } }, 'each');

  /** Attacks in rounds while a caller reads slots with requests of 20 KiB, and asserts that it is not harmed. */
  async function attack(round: () => Promise<Socket[]>): Promise<void> {
    const slotIds = Array.from({ length: 4_000 }, (_, at) => 1_000_000 + at);
    const call = (timeoutMs: number) => target().replica.slots.getSlotsProductIds({ slotIds }, { timeoutMs });
    const sockets: Socket[] = [];
    await expectNoHarm(target().replica, call, async () => {
      for (let count = 0; count < rounds; count += 1) {
        sockets.push(...(await round()));
        await pause(roundMs);
      }
    });
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => connectionsTo(target().grpcPort)).toBeLessThan(10);
    expect(await isServing(target())).toBe(true);
  }

  it('Strangers who ask 2,000 times every half second whether the service is ready harm no caller', async () => {
    const socket = await openSocket(target().webPort);
    socket.resume();
    await attack(async () => {
      socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000));
      return [socket];
    });
  });

  it('Strangers who scrape the metrics without an end harm no caller', async () => {
    const port = Number(target().replica.log.find(({ msg }) => msg === 'serving')?.metricsPort);
    await attack(async () => {
      const socket = await openSocket(port);
      socket.resume().write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(500));
      return [socket];
    });
  });

  it.each(['/slot.v1.SlotService/GetSlots', '/grpc.health.v1.Health/Watch'])(
    'Strangers who open 110 connections with 100 half-sent requests each to %s harm no caller',
    (path) =>
      attack(async () => {
        const sockets = await openSockets(target().grpcPort, 110);
        for (const socket of sockets) openHalf(socket.resume(), 100, requestHeaders(path));
        return sockets;
      }),
  );

  it('Strangers who send 80 halves of large requests over gRPC harm no caller', () =>
    attack(async () => {
      const sockets = await openSockets(target().grpcPort, 80);
      const half = grpcFrame(Buffer.alloc(60_000), { length: 4 * mebibyte - 1 });
      for (const socket of sockets) {
        void sendHalf(socket.resume(), requestHeaders('/slot.v1.SlotService/GetSlots'), half.subarray(0, 16_384));
      }
      return sockets;
    }));

  it('Strangers who send 80 halves of large requests to the web port harm no caller', () =>
    attack(async () => {
      const sockets = await openSockets(target().webPort, 80);
      for (const socket of sockets) {
        const body = { 'content-type': 'application/json', 'content-length': 4 * mebibyte };
        socket.resume().write(postHead('GetSlots', { authorization: 'Bearer nobody', ...body }));
        socket.write(Buffer.alloc(2 * mebibyte, ' '));
      }
      return sockets;
    }));
});
