import { readFile } from 'node:fs/promises';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { GrpcTransport } from '../../services/client/transport.ts';
import type { ServiceName } from '../../shared/config/config.ts';
import { memoryOf } from '../bench/servers.ts';
import type { TestDatabase } from '../support/database.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { post } from '../support/post.ts';
import { viaPort } from '../support/proxy.ts';
import type { Replica } from '../support/replica.ts';
import { Stage } from '../support/stage.ts';
import { signToken, type TokenOptions, withToken } from '../support/tokens.ts';

/** A service in a process and on a core of its own, to be attacked, with the token of staff user 1. */
export interface Target {
  readonly database: TestDatabase;
  readonly replica: Replica;
  readonly token: string;
  readonly grpcPort: number;
  readonly webPort: number;
  /** A client of a service over gRPC, on a connection that ends with the target. */
  client<Service extends DescService>(service: Service, token: TokenOptions | string): Promise<Client<Service>>;
  /** Begins to measure by how much the memory of the process grows. */
  measureGrowth(): Promise<void>;
  /** The growth of its resident memory since `measureGrowth`, in MiB. */
  grown(): Promise<number>;
  stop(): Promise<void>;
}

const mebibyte = 1024 * 1024;
/** A state in /proc/net/tcp. */
const listening = '0A';

/** How much garbage V8 may leave in a process under attack before it collects it, in MiB. */
export const garbageMiB = 150;

export const toMiB = (bytes: number): number => bytes / mebibyte;

export interface TargetOptions {
  /** Unset: slot-service. */
  readonly service?: ServiceName;
  readonly env?: Readonly<Record<string, string>>;
  /** The port at which the service finds its database, when that is a proxy. */
  readonly databasePort?: number;
  /** Fills the database before the service starts. */
  readonly seed?: string;
}

export async function startTarget(options: TargetOptions = {}): Promise<Target> {
  const { service = 'slot', env = {}, databasePort, seed } = options;
  const stage = await Stage.open();
  const { database } = stage;
  if (seed !== undefined) await database.sql(seed);
  const databaseUrl = databasePort === undefined ? database.url : viaPort(database.url, databasePort);
  const replica = await stage.start({ databaseUrl, service, core: 0, env });
  let before = await memoryOf(replica);
  let transport: GrpcTransport | undefined;
  return {
    ...{ database, replica, ...replica.ports, token: await signToken({ staffId: 1 }) },
    async client(service, given) {
      transport ??= createGrpcJsTransport(`127.0.0.1:${replica.ports.grpcPort}`);
      return createClient(service, withToken(transport, typeof given === 'string' ? given : await signToken(given)));
    },
    async measureGrowth() {
      before = await memoryOf(replica);
    },
    grown: async () => (await memoryOf(replica)) - before,
    async stop() {
      transport?.close();
      await stage.close();
    },
  };
}

/** Gives the target for the tests of a file or a `describe`: one for all of them, or one for each. */
export function targetOf(options: TargetOptions = {}, lifetime: 'all' | 'each' = 'all'): () => Target {
  let target: Target | undefined;
  const [before, after] = lifetime === 'all' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  before(async () => {
    target = await startTarget(options);
  });
  after(() => target?.stop());
  return () => target ?? expect.fail('the target starts before the tests');
}

/** The number of connections that a process has accepted at its port and not closed. */
export async function connectionsTo(port: number): Promise<number> {
  const address = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  // Connections that wait to be accepted, or whose process has closed them, have no inode.
  return rows.filter(([, local = '', , state, , , , , , inode]) => {
    return local.endsWith(address) && state !== listening && inode !== '0';
  }).length;
}

/** Whether calls are answered on both ports. */
export async function isServing({ replica, token }: Target): Promise<boolean> {
  await replica.slots.getSlotsProductIds({ slotIds: [1] }, { timeoutMs: 10_000 });
  const response = await post(replica.ports.webPort, 'GetSlotsProductIds', token, '{"slotIds":[1]}');
  await response.text();
  return response.status === 200;
}

/** Gives slot 1 a delivery sequence of so many products for each of so many users. */
export async function insertLargeSequence(
  { database }: Target,
  { users, products }: { readonly users: number; readonly products: number },
): Promise<void> {
  await database.sql(`
    insert into slots (id, delivery_time, freeze_time, delivery_sequence)
      select 1, now() + interval '9 days', now() + interval '8 days',
        jsonb_object_agg(u, (select jsonb_agg(100000 + i) from generate_series(1, ${products}) i))
      from generate_series(1, ${users}) u`);
}
