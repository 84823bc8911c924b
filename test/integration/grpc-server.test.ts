import { once } from 'node:events';
import { connect } from 'node:http2';
import { expect, it } from 'vitest';
import { serveGrpc } from '../../shared/rpc/grpc/server.ts';
import { servedWithoutInterceptors } from '../support/served.ts';

it('A gRPC port that is killed closes its connections, with their calls', async () => {
  const server = await serveGrpc(servedWithoutInterceptors(), { host: '127.0.0.1', port: 0 }, undefined);
  const session = connect(`http://127.0.0.1:${server.port}`);
  const watch = session.request({
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Watch',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  watch.end(Buffer.alloc(5));
  await once(watch, 'data');
  watch.on('error', () => undefined);
  session.on('error', () => undefined);
  const closed = once(session, 'close');
  server.kill();
  await closed;
  expect(session.destroyed).toBe(true);
});
