import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GrpcServer, serveGrpc } from '../../../shared/rpc/grpc/server.ts';
import { servedWithoutInterceptors } from '../../support/served.ts';
import { startTestService } from '../../support/service.ts';

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
