import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHalf, sendHalf } from '../support/http2-frames.ts';
import { besides, expectUnharmed, retries } from './bystander.ts';
import {
  connectionsTo,
  grpcFrame,
  isServing,
  memoryOf,
  openSocket,
  requestHeaders,
  startTarget,
  type Target,
} from './overload-stage.ts';

const mebibyte = 1024 * 1024;
const maxMemoryMiB = 500;
const rounds = 6;
const roundMs = 500;

describe('Strangers, who show no credential', { retry: retries }, () => {
  let target: Target;
  beforeEach(async () => {
    target = await startTarget({ env: { SLOT_METRICS_PORT: '0' } });
  });
  afterEach(() => target.stop());

  /** Attacks in rounds while a caller reads slots with requests of 20 KiB, and asserts that it is not harmed. */
  async function attack(round: () => Promise<Socket[]>): Promise<void> {
    const slotIds = Array.from({ length: 4_000 }, (_, at) => 1_000_000 + at);
    const call = (timeoutMs: number) => target.replica.slots.getSlotsProductIds({ slotIds }, { timeoutMs });
    const sockets: Socket[] = [];
    let mostMiB = 0;
    const bystander = await besides(call, async () => {
      for (let count = 0; count < rounds; count += 1) {
        sockets.push(...(await round()));
        await pause(roundMs);
        mostMiB = Math.max(mostMiB, await memoryOf(target.replica));
      }
    });
    for (const socket of sockets) socket.destroy();
    expectUnharmed(bystander);
    expect(mostMiB).toBeLessThan(maxMemoryMiB);
    await expect.poll(() => connectionsTo(target.replica.ports.grpcPort)).toBeLessThan(10);
    expect(await isServing(target)).toBe(true);
  }

  it('Strangers who ask 2,000 times every half second whether the service is ready harm no caller', async () => {
    const socket = await openSocket(target.replica.ports.webPort);
    socket.resume();
    await attack(async () => {
      socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000));
      return [socket];
    });
  });

  it('Strangers who scrape the metrics without an end harm no caller', async () => {
    const port = Number(target.replica.log.find(({ msg }) => msg === 'serving')?.metricsPort);
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
        const sockets = await Promise.all(Array.from({ length: 110 }, () => openSocket(target.replica.ports.grpcPort)));
        for (const socket of sockets) openHalf(socket.resume(), 100, requestHeaders(path));
        return sockets;
      }),
  );

  it('Strangers who send 80 halves of large requests over gRPC harm no caller', () =>
    attack(async () => {
      const sockets = await Promise.all(Array.from({ length: 80 }, () => openSocket(target.replica.ports.grpcPort)));
      const half = grpcFrame(Buffer.alloc(60_000), { length: 4 * mebibyte - 1 });
      for (const socket of sockets) {
        void sendHalf(socket.resume(), requestHeaders('/slot.v1.SlotService/GetSlots'), half.subarray(0, 16_384));
      }
      return sockets;
    }));

  it('Strangers who send 80 halves of large requests to the web port harm no caller', () =>
    attack(async () => {
      const sockets = await Promise.all(Array.from({ length: 80 }, () => openSocket(target.replica.ports.webPort)));
      for (const socket of sockets) {
        socket
          .resume()
          .write(
            'POST /slot.v1.SlotService/GetSlots HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
              `authorization: Bearer nobody\r\ncontent-length: ${4 * mebibyte}\r\n\r\n`,
          );
        socket.write(Buffer.alloc(2 * mebibyte, ' '));
      }
      return sockets;
    }));
});
