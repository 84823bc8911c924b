import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Code } from '@connectrpc/connect';
import pg from 'pg';
import { expect, it } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { type EmbeddedPostgres, startPostgres } from '../../services/dev/postgres/postgres.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { failureOf } from '../support/contract.ts';
import { run } from '../support/processes.ts';
import { Replica } from '../support/replica.ts';
import { createSlot, openSlotIds, readCovering } from '../support/slot-writes.ts';
import { insertStaffUser } from '../support/stage.ts';

/** A PostgreSQL that can be set back to an earlier state of its data, on a new timeline. */
class RecoverableServer {
  readonly #folder: string;
  readonly #port: number;
  #server: EmbeddedPostgres;

  private constructor(folder: string, port: number, server: EmbeddedPostgres) {
    this.#folder = folder;
    this.#port = port;
    this.#server = server;
  }

  static async start(): Promise<RecoverableServer> {
    const folder = await mkdtemp(path.join(tmpdir(), 'recovery-test-'));
    // The server runs as another user when this process is root.
    await chmod(folder, 0o755);
    const port = await findFreePort();
    return new RecoverableServer(folder, port, await startOn(folder, port));
  }

  get url(): string {
    return this.#server.url;
  }

  async sql(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Keeps a copy of the data as it is now. */
  async keep(): Promise<void> {
    await this.#server.stop();
    await run('cp', ['-a', this.#data, `${this.#data}.kept`]);
    await this.#restart();
  }

  /** Loses what was written since the copy, as a point-in-time recovery does, or a failover to a standby that lags. */
  async setBack(): Promise<void> {
    await this.#server.stop();
    await rm(this.#data, { recursive: true });
    await run('cp', ['-a', `${this.#data}.kept`, this.#data]);
    await writeFile(path.join(this.#data, 'recovery.signal'), '');
    await this.#restart();
  }

  async remove(): Promise<void> {
    await this.#server.stop();
    await rm(this.#folder, { recursive: true });
  }

  get #data(): string {
    return path.join(this.#folder, 'postgres');
  }

  async #restart(): Promise<void> {
    this.#server = await startOn(this.#folder, this.#port);
  }
}

function startOn(folder: string, port: number): Promise<EmbeddedPostgres> {
  return startPostgres(folder, port, new AbortController().signal, ['fsync=off', 'restore_command=false']);
}

it('A database that is set back is followed by every replica, and no read claims a write that it lost', async (test) => {
  const server = await RecoverableServer.start();
  test.onTestFinished(() => server.remove());
  await migrate(server.url);
  await server.sql(insertStaffUser);
  const replicas = await Promise.all([1, 2].map(() => Replica.start({ databaseUrl: server.url })));
  test.onTestFinished(async () => {
    for (const replica of replicas) await replica.kill();
  });
  const [writer, other] = replicas;
  if (writer === undefined || other === undefined) throw new Error('two replicas were started');
  const statuses = () => Promise.all(replicas.map((replica) => replica.stores.getStoreStatus({})));
  const untilBoth = (check: () => Promise<void>) => expect.poll(() => check().then(() => 'held', String)).toBe('held');

  const kept = await createSlot(writer);
  for (const replica of replicas) await readCovering(replica, kept, 20_000);
  await server.keep();
  await untilBoth(async () => void (await statuses()));
  const before = Math.max(...(await statuses()).map(({ version }) => version));

  const lost = await untilWritten(writer);
  for (let left = 3; left > 0; left -= 1) await readCovering(other, await createSlot(writer), 20_000);
  for (const replica of replicas) expect(await readCovering(replica, lost, 20_000)).toContain(lost.slotId);
  const told: number[] = [];
  const watching = (async () => {
    for await (const { version } of other.stores.watchStore({ afterVersion: before })) told.push(version);
  })();
  watching.catch(() => undefined);
  await expect.poll(() => told.at(-1)).toBeGreaterThan(before);
  const newest = told.at(-1) ?? 0;

  await server.setBack();
  await untilBoth(async () => {
    for (const replica of replicas) expect(await openSlotIds(replica)).toEqual([kept.slotId]);
  });
  for (const { version } of await statuses()) expect(version).toBeLessThan(newest);
  await expect.poll(() => told.at(-1)).toBeLessThan(newest);
  for (const replica of replicas) {
    const error = await failureOf(readCovering(replica, lost, 20_000));
    expect([Code[error.code], error.rawMessage]).toEqual([
      'Aborted',
      'The database does not know the write of this store-request-id',
    ]);
  }

  // A watch that resumes after a version that was lost receives the current one.
  for await (const { version } of other.stores.watchStore({ afterVersion: newest }, { timeoutMs: 10_000 })) {
    expect(version).toBeLessThan(newest);
    break;
  }

  // By then, other transactions have the ids of those that were lost.
  for (let left = 10; left > 0; left -= 1) await createSlot(writer);
  const last = await createSlot(writer);
  for (const replica of replicas) {
    expect(await readCovering(replica, last, 20_000)).toContain(last.slotId);
    expect(Code[(await failureOf(readCovering(replica, lost, 20_000))).code]).toBe('Aborted');
  }
});

/** Writes until one succeeds: the pool finds its lost connections one by one. */
async function untilWritten(replica: Replica) {
  for (;;) {
    try {
      return await createSlot(replica);
    } catch (error) {
      if (!String(error).includes('unavailable')) throw error;
    }
  }
}
