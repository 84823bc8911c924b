import { readdir, readFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { expect } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { Replica } from '../support/replica.ts';
import { signToken } from '../support/tokens.ts';

/** A slot-service in a process of its own, to be attacked, with a staff token. */
export interface Target {
  readonly database: TestDatabase;
  readonly replica: Replica;
  readonly token: string;
  stop(): Promise<void>;
}

/** @param databasePort where the service finds its database, when that is not the server's own port. */
export async function startTarget(env: Readonly<Record<string, string>> = {}, databasePort?: number): Promise<Target> {
  const database = await createDatabase();
  await database.sql(`insert into staff_users (id, name) values (1, 'Asha')`);
  const databaseUrl = new URL(database.url);
  if (databasePort !== undefined) databaseUrl.port = String(databasePort);
  const replica = await Replica.start({ databaseUrl: databaseUrl.href, env });
  const token = await signToken({ staffId: 1 });
  await replica.slots.getSlots({});
  return {
    database,
    replica,
    token,
    async stop() {
      await replica.stop();
      await database.close();
    },
  };
}

/** What the process has in memory, in MiB. */
export async function memoryOf({ replica }: Target): Promise<number> {
  const status = await readFile(`/proc/${replica.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** How many files and connections the process has open. */
export async function openFilesOf({ replica }: Target): Promise<number> {
  return (await readdir(`/proc/${replica.pid}/fd`)).length;
}

/** Whether calls are answered on both ports. */
export async function isServing({ replica, token }: Target): Promise<boolean> {
  await replica.slots.getSlots({}, { timeoutMs: 10_000 });
  const response = await post(replica.ports.webPort, 'GetSlots', token, '{}');
  await response.text();
  return response.status === 200;
}

export function post(port: number, method: string, token: string, body: string | Uint8Array, headers = {}) {
  return fetch(`http://127.0.0.1:${port}/slot.v1.SlotService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body,
  });
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

/** Makes every call that reads slots wait until it is given up. */
export async function lockSlots({ database }: Target): Promise<() => Promise<void>> {
  const locker = new pg.Client({ connectionString: database.url });
  await locker.connect();
  await locker.query('begin; lock table slots in access exclusive mode');
  return () => locker.end();
}

/** Resolves once a GetSlots waits for a lock. */
export async function untilBlocked({ database }: Target): Promise<void> {
  // A refresh of the stores may wait, too.
  const blocked =
    "select from pg_stat_activity where wait_event_type = 'Lock' and query like '% from slots where is_active'";
  await expect.poll(() => database.sql(blocked), { timeout: 10_000 }).not.toHaveLength(0);
}

/** A TCP connection that never fails its test; what comes is thrown away unless listened to. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return socket;
}

/** An HTTP/2 connection that never fails its test. */
export async function openSession(port: number, settings = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings });
  session.on('error', () => undefined);
  await new Promise((resolve) => session.once('remoteSettings', resolve));
  return session;
}

export const untilClosed = (stream: { once(event: 'close', listener: () => void): unknown }) =>
  new Promise<void>((resolve) => stream.once('close', () => resolve()));

export const grpcHeaders = (method: string, token: string) => ({
  ':method': 'POST',
  ':path': `/slot.v1.SlotService/${method}`,
  'content-type': 'application/grpc',
  te: 'trailers',
  authorization: `Bearer ${token}`,
});

/** A gRPC frame, which claims the length that is given. */
export function grpcFrame(bytes: Uint8Array, { length = bytes.length, compressed = false } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed ? 1 : 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}
