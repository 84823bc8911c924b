import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GrpcServer, serveGrpc } from '../../../shared/rpc/grpc/server.ts';
import { maxUnauthenticatedSentBytes } from '../../../shared/rpc/limits/limits.ts';
import { openSocket, openSockets, postHead, untilClosed } from '../../load/overload-wire.ts';
import { servedWithoutInterceptors } from '../../support/served.ts';
import { startTestService } from '../../support/service.ts';
import { bearer } from '../../support/tokens.ts';

describe('A connection to the gRPC port', () => {
  let server: GrpcServer;
  beforeAll(async () => {
    server = await serveGrpc(servedWithoutInterceptors(), { host: '127.0.0.1', port: 0 }, undefined, 100);
  });
  afterAll(() => server.kill());

  it('A connection whose client breaks the protocol and leaves is closed', async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined).resume();
    const settings = '000000040000000000';
    // A PING frame must have eight bytes and no stream; this one has six, on a stream.
    const brokenPing = '000006078b0000000383868416484c';
    socket.end(
      Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from(settings + brokenPing, 'hex')]),
    );
    await once(socket, 'close');
  }, 5_000);
});

it('The ports of a service answer at BIND_ADDRESS only', async () => {
  const service = await startTestService('slot', () => ({ bindAddress: '127.0.0.2' }));
  try {
    for (const port of [service.grpcPort, service.webPort, service.metricsPort ?? 0]) {
      const there = connect({ port, host: '127.0.0.2' });
      await once(there, 'connect');
      there.destroy();
      const elsewhere = connect({ port, host: '127.0.0.1' });
      await expect(once(elsewhere, 'connect')).rejects.toThrow('ECONNREFUSED');
    }
  } finally {
    await service.stop();
  }
});

it('Headers that never end close the oldest connection without a caller when all have sent 32 MiB, and no connection of a caller', async () => {
  const service = await startTestService('slot');
  const headerBytes = 60 * 1024;
  const most = Math.floor(maxUnauthenticatedSentBytes / headerBytes);
  const json = { 'content-type': 'application/json', 'content-length': 2 };
  const call = postHead('GetSlots', { ...(await bearer({ staffId: 1 })), ...json, 'x-long': 'x'.repeat(headerBytes) });
  const ofCaller = await openSocket(service.webPort);
  const silent = await openSocket(service.webPort);
  const answered = async () => {
    ofCaller.write(`${call}{}`);
    const [answer] = await once(ofCaller, 'data');
    return String(answer).split('\r\n', 1)[0];
  };
  try {
    expect(await answered()).toBe('HTTP/1.1 200 OK');
    const strangers = await openSockets(service.webPort, most + 20);
    const half = `GET / HTTP/1.1\r\nx: ${'x'.repeat(headerBytes)}`;
    for (const stranger of strangers) stranger.resume().write(half);
    await Promise.all(strangers.slice(0, 20).map(untilClosed));
    expect(strangers.at(-1)?.closed).toBe(false);
    expect(silent.closed).toBe(false);
    expect(await answered()).toBe('HTTP/1.1 200 OK');
    for (const socket of [...strangers, ofCaller, silent]) socket.destroy();
  } finally {
    await service.stop();
  }
});
