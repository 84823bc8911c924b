import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { flood } from '../support/http2-frames.ts';
import { bearer } from '../support/tokens.ts';
import { garbageMiB, memoryOf, startTarget } from './overload-stage.ts';

const connections = 10;
const streamsEach = 2_000;

const headers = async () => ({
  ':method': 'POST',
  ':scheme': 'https',
  ':authority': 'localhost',
  ':path': '/slot.v1.SlotService/GetSlots',
  'content-type': 'application/grpc',
  te: 'trailers',
  ...(await bearer({ staffId: 1 })),
});

it('A flood of HTTP/2 resets on the gRPC port is cut off, and other calls are answered', async () => {
  const target = await startTarget();
  onTestFinished(() => target.stop());
  const { replica } = target;
  const before = await memoryOf(replica);
  for (let n = 0; n < connections; n += 1) {
    const socket = connect(replica.ports.grpcPort, 'localhost');
    await Promise.all([flood(socket, streamsEach, await headers()), replica.slots.getSlots({}, { timeoutMs: 10_000 })]);
    socket.destroy();
  }
  await replica.slots.getSlots({}, { timeoutMs: 5_000 });
  expect((await memoryOf(replica)) - before).toBeLessThan(garbageMiB);
  expect(await replica.stop()).toBe(0);
});
