import { readFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import * as grpc from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { bullmq, checkBullmq, createBullmqPool } from '../../shared/internals/bullmq.ts';
import * as connectParts from '../../shared/internals/connect.ts';
import { checkConnectNode, connectNode } from '../../shared/internals/connect-node.ts';
import { checkGrpcJs, grpcJs, http2ServersOf } from '../../shared/internals/grpc-js.ts';
import { checkInternals } from '../../shared/internals/internals.ts';
import { limitHttp1 } from '../../shared/internals/node-http2.ts';
import { checkPg, pgClient } from '../../shared/internals/pg.ts';
import { checkPromClient, promClient } from '../../shared/internals/prom-client.ts';

const { checkConnect, connect, ...exported } = connectParts;
const { experimental } = grpc;
const http1Limits = { keepAliveTimeout: 1, headersTimeout: 1, requestTimeout: 1, maxHeadersCount: 1 };

function serverOf(http2Servers: unknown): grpc.Server {
  const server = new grpc.Server();
  Reflect.set(server, 'http2Servers', http2Servers);
  return server;
}

describe('The check of a library at the start', () => {
  it('The check passes for the libraries that are installed', () => {
    expect(checkInternals).not.toThrow();
    expect(checkBullmq).not.toThrow();
  });

  it.each<[change: string, check: () => void, line: string]>([
    [
      'a grpc-js whose servers have no map of HTTP/2 servers',
      () => checkGrpcJs({ Server: class {}, experimental }),
      '@grpc/grpc-js keeps its HTTP/2 servers elsewhere: this release works with exactly 1.14.7',
    ],
    [
      'a grpc-js without credentials of a certificate provider',
      () => checkGrpcJs({ Server: grpc.Server, experimental: {} }),
      '@grpc/grpc-js has no credentials that follow a certificate provider: this release works with exactly 1.14.7',
    ],
    [
      'a bound server whose map of HTTP/2 servers is gone',
      () => http2ServersOf(serverOf(undefined)),
      '@grpc/grpc-js keeps its HTTP/2 servers elsewhere: this release works with exactly 1.14.7',
    ],
    [
      'a bound server that does not listen to the streams of its HTTP/2 servers',
      () => http2ServersOf(serverOf(new Map([[createServer(), {}]]))),
      '@grpc/grpc-js does not handle streams from the moment it is bound: this release works with exactly 1.14.7',
    ],
    [
      'a connect-node without a conversion',
      () => checkConnectNode({ universalRequestFromNodeRequest: () => undefined }),
      '@connectrpc/connect-node has no universalResponseToNodeResponse: this release works with exactly 2.1.2',
    ],
    [
      'a pg whose clients have no cancellation key',
      () => checkPg({ Client: class {} }),
      'pg keeps the cancellation key of a connection elsewhere: this release works with exactly 8.23.1',
    ],
    [
      'a prom-client whose histograms have no getForPromString',
      () => checkPromClient({ get: () => undefined }),
      'prom-client reads a histogram by another method: this release works with exactly 15.1.3',
    ],
    [
      'a BullMQ that does not export isNotConnectionError',
      () => checkBullmq({}),
      'bullmq does not recognize a lost connection by ECONNREFUSED: this release works with exactly 6.7.0',
    ],
    [
      'a BullMQ that takes ECONNREFUSED for the error of a statement',
      () => checkBullmq({ isNotConnectionError: () => true }),
      'bullmq does not recognize a lost connection by ECONNREFUSED: this release works with exactly 6.7.0',
    ],
    [
      'a Node whose TLS servers do not take the limits of HTTP/1.1',
      () => limitHttp1({}, http1Limits),
      `Node ${process.versions.node} limits HTTP/1.1 over TLS elsewhere: this release works with Node 20, 22 and 24`,
    ],
  ])('The check rejects %s with one clear line', (_change, check, line) => {
    expect(check).toThrow(expect.objectContaining({ name: 'ConfigError', message: line }));
  });

  it.each(Object.keys(exported))('The check rejects a Connect that no longer exports %s', (name) => {
    expect(() => checkConnect({ ...exported, [name]: undefined })).toThrow(
      `@connectrpc/connect has no ${name}: this release works with exactly 2.1.2`,
    );
  });
});

it('BullMQ takes the pool that is made for it', async () => {
  await createBullmqPool({}).end();
});

describe('Pinned libraries', () => {
  const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  const { dependencies, overrides } = read('package.json');
  const { packages } = read('package-lock.json');

  it.each([grpcJs, connect, connectNode, pgClient, promClient, bullmq])(
    'package.json and its lock file pin the exact version of $name',
    ({ name, version }) => {
      expect({ ...overrides, ...dependencies }[name]).toBe(version);
      expect({ ...overrides, ...packages[''].dependencies }[name]).toBe(version);
      expect(packages[`node_modules/${name}`].version).toBe(version);
    },
  );
});
