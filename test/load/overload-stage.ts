import { readFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import type { ServiceName } from '../../shared/config/config.ts';
import type { TestDatabase } from '../support/database.ts';
import { post } from '../support/post.ts';
import { viaPort } from '../support/proxy.ts';
import type { Replica } from '../support/replica.ts';
import { Stage } from '../support/stage.ts';
import { signToken } from '../support/tokens.ts';

/** A service in a process and on a core of its own, to be attacked, with the token of staff user 1. */
export interface Target {
  readonly database: TestDatabase;
  readonly replica: Replica;
  readonly token: string;
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
  return {
    database,
    replica,
    token: await signToken({ staffId: 1 }),
    async measureGrowth() {
      before = await memoryOf(replica);
    },
    grown: async () => (await memoryOf(replica)) - before,
    stop: () => stage.close(),
  };
}

/** The resident memory of the process, in MiB. */
export async function memoryOf({ pid }: Replica): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
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

/** A TCP connection whose errors are ignored. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

/** An HTTP/2 connection whose errors are ignored. */
export async function openSession(port: number, settings = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings });
  session.on('error', () => undefined);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

export const untilClosed = (stream: { once(event: 'close', listener: () => void): unknown }) =>
  new Promise<void>((resolve) => stream.once('close', () => resolve()));

/** The headers of a gRPC request; without a token, those of a stranger's. */
export const requestHeaders = (path: string, token?: string) => ({
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': path,
  'content-type': 'application/grpc',
  te: 'trailers',
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
});

export const grpcHeaders = (method: string, token: string) => requestHeaders(`/slot.v1.SlotService/${method}`, token);

/** A gRPC frame whose head states a length: that of the bytes, unless told otherwise. */
export function grpcFrame(bytes: Uint8Array, { length = bytes.length, compressed = false } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed ? 1 : 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}
