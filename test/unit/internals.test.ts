import { createServer } from 'node:http2';
import * as grpc from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { bullmq, checkBullmq, createBullmqPool } from '../../shared/internals/bullmq.ts';
import { checkGrpcJs, grpcJs, http2ServersOf } from '../../shared/internals/grpc-js.ts';
import { checkInternals } from '../../shared/internals/internals.ts';
import { checkPg, pgClient } from '../../shared/internals/pg.ts';
import { read } from '../support/repository.ts';

const { experimental } = grpc;

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

  const elsewhere = '@grpc/grpc-js keeps its HTTP/2 servers elsewhere: this release works with exactly 1.14.7';
  const unknownLoss =
    'bullmq does not recognize a lost connection by ECONNREFUSED: this release works with exactly 6.7.0';
  const withoutMap = { Server: class {}, experimental };
  const withoutCredentials = { Server: grpc.Server, experimental: {} };
  const deaf = new Map([[createServer(), {}]]);

  it.each<[change: string, check: () => void, line: string]>([
    ['a grpc-js whose servers have no map of HTTP/2 servers', () => checkGrpcJs(withoutMap), elsewhere],
    [
      ...(['a grpc-js without credentials of a certificate provider', () => checkGrpcJs(withoutCredentials)] as const),
      '@grpc/grpc-js has no credentials that follow a certificate provider: this release works with exactly 1.14.7',
    ],
    ['a bound server whose map of HTTP/2 servers is gone', () => http2ServersOf(serverOf(undefined)), elsewhere],
    [
      'a bound server that does not listen to the streams of its HTTP/2 servers',
      () => http2ServersOf(serverOf(deaf)),
      '@grpc/grpc-js does not handle streams from the moment it is bound: this release works with exactly 1.14.7',
    ],
    [
      ...(['a pg whose clients have no cancellation key', () => checkPg({ Client: class {} })] as const),
      'pg keeps the cancellation key of a connection elsewhere: this release works with exactly 8.23.1',
    ],
    ['a BullMQ that does not export isNotConnectionError', () => checkBullmq({}), unknownLoss],
    [
      'a BullMQ that takes ECONNREFUSED for the error of a statement',
      () => checkBullmq({ isNotConnectionError: () => true }),
      unknownLoss,
    ],
  ])('The check rejects %s with one clear line', (_change, check, line) => {
    expect(check).toThrow(expect.objectContaining({ name: 'ConfigError', message: line }));
  });
});

it('BullMQ takes the pool that is made for it', async () => {
  await createBullmqPool({}).end();
});

describe('Pinned libraries', () => {
  const { dependencies, overrides } = JSON.parse(read('package.json'));
  const { packages } = JSON.parse(read('package-lock.json'));

  it.each([grpcJs, pgClient, bullmq])(
    'package.json and its lock file pin the exact version of $name',
    ({ name, version }) => {
      expect({ ...overrides, ...dependencies }[name]).toBe(version);
      expect({ ...overrides, ...packages[''].dependencies }[name]).toBe(version);
      expect(packages[`node_modules/${name}`].version).toBe(version);
    },
  );
});
