import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { PacedClient } from '../../shared/db/pool/paced-client.ts';
import { statement } from '../../shared/db/statement.ts';
import type { BatchQueryable } from '../../shared/db/transaction.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startRelay } from '../support/relay.ts';
import { testSecret } from '../support/tokens.ts';

const wait = statement<never>('wait', 'select pg_sleep(60)');
const backend = statement<{ pid: number }>('backend', 'select pg_backend_pid() as pid');
const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event = 'PgSleep'`;

describe('A pool of one connection', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let connection: BatchQueryable;

  beforeAll(async () => {
    testDatabase = await createDatabase();
    const config = readConfig('slot', { DATABASE_URL: testDatabase.url, AUTH_JWT_SECRET: testSecret });
    database = new Database({ ...config.database, poolSize: 1 }, createLogger('test', 'silent'));
    connection = database.for({ signal: new AbortController().signal });
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });

  it.each([
    ['a statement', () => connection.query(wait())],
    ['a batch of one', () => connection.batch([], wait())],
    ['a batch', () => connection.batch([backend()], wait())],
    ['a transaction', () => database.transaction({ signal: new AbortController().signal }, (tx) => tx.query(wait()))],
  ])('The pool lends no connection again that the server ended during %s', async (_name, run) => {
    const [before] = await connection.query(backend());
    const waiting = run();
    const next = waiting.catch((error: unknown) => {
      expect(error).toMatchObject({ rawMessage: 'The database is unavailable' });
      return connection.query(backend());
    });
    await expect.poll(() => testDatabase.sql(terminate)).toHaveLength(1);
    const [after] = await next;
    expect(after).toEqual({ pid: expect.any(Number) });
    expect(after).not.toEqual(before);
  });
});

it('Questions that wait for a connection of a silent database are answered with no, and end nothing else', async () => {
  const silent = await startRelay(Number(new URL(inject('postgresUrl')).port), () => undefined);
  const url = `postgresql://127.0.0.1:${silent.port}/silent`;
  const config = readConfig('slot', { DATABASE_URL: url, AUTH_JWT_SECRET: testSecret });
  const database = new Database(
    { ...config.database, poolSize: 1, connectionTimeoutMs: 100 },
    createLogger('test', 'silent'),
  );
  // The pool opens two connections: the third waits.
  const answers = [1, 2, 3].map(() => database.answers(new AbortController().signal));
  expect(await Promise.all(answers)).toEqual([false, false, false]);
  await database.close();
  await silent.cut();
});

describe('A connection', () => {
  let testDatabase: TestDatabase;
  beforeAll(async () => {
    testDatabase = await createDatabase();
  });
  afterAll(() => testDatabase.close());

  it('A long result is read in parts of 64 KiB, one in each iteration of the event loop', async () => {
    const client = new PacedClient({ connectionString: testDatabase.url });
    await client.connect();
    let [read, most] = [0, 0];
    client.connection.stream.on('data', (part) => {
      read += part.length;
      most = Math.max(most, read);
    });
    const count = () => {
      read = 0;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const { rowCount } = await client.query(`select repeat('x', 1000) from generate_series(1, 20000)`);
    clearImmediate(counting);
    expect(rowCount).toBe(20_000);
    // Node alone reads 2 MiB at once.
    expect(most).toBeLessThan(256 * 1024);
    await client.end();
  });
});
