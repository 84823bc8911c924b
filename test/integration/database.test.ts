import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { readConfig } from '../../shared/config/config.ts';
import type { DatabaseConfig } from '../../shared/config/database.ts';
import { Database } from '../../shared/db/database.ts';
import { PacedClient } from '../../shared/db/pool/paced-client.ts';
import { type Queryable, statement } from '../../shared/db/statement.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { expectCancelsHarmless } from '../support/canceled-statements.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { viaPort } from '../support/proxy.ts';
import { startRelay } from '../support/relay.ts';
import { testSecret } from '../support/tokens.ts';

const wait = statement<never>('wait', 'select pg_sleep(60)');
const backend = statement<{ pid: number }>('backend', 'select pg_backend_pid() as pid');
const insertStaffUser = statement<never>('insertStaffUser', `insert into staff_users (name) values ('Asha Menon')`);
const asleep = `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`;
const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event = 'PgSleep'`;

/** What waits on a connection of a pool. */
const waits: [string, (database: Database, signal: AbortSignal) => Promise<never[]>][] = [
  ['a statement', (database, signal) => database.for({ signal }).query(wait())],
  ['a batch of one', (database, signal) => database.for({ signal }).pipeline([], wait())],
  ['a batch', (database, signal) => database.for({ signal }).pipeline([backend()], wait())],
  ['a transaction', (database, signal) => database.transaction({ signal }, (tx) => tx.query(wait()))],
];

/** A database with a pool of one connection. */
function openPool(url: string, changes: Partial<DatabaseConfig> = {}): Database {
  const { database } = readConfig('slot', { DATABASE_URL: url, AUTH_JWT_SECRET: testSecret });
  return new Database({ ...database, poolSize: 1, ...changes }, createLogger('test', 'silent'));
}

describe('A pool of one connection', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let connection: Queryable;

  beforeAll(async () => {
    testDatabase = await createDatabase();
    database = openPool(testDatabase.url);
    connection = database.for({ signal: new AbortController().signal });
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });

  it.each(waits)('The pool lends no connection again that the server ended during %s', async (_name, run) => {
    const [before] = await connection.query(backend());
    const waiting = run(database, new AbortController().signal);
    const next = waiting.catch((error: unknown) => {
      expect(error).toMatchObject({ rawMessage: 'The database is unavailable' });
      return connection.query(backend());
    });
    await expect.poll(() => testDatabase.sql(terminate)).toHaveLength(1);
    const [after] = await next;
    expect(after).toEqual({ pid: expect.any(Number) });
    expect(after).not.toEqual(before);
  });

  /** Cancels what waits, and returns the process that serves the next statement. */
  async function cancel(pool: Database, run: (typeof waits)[0][1]): Promise<unknown> {
    const canceling = new AbortController();
    const waiting = run(pool, canceling.signal);
    await expect.poll(() => testDatabase.sql(asleep)).toHaveLength(1);
    canceling.abort(new Error('canceled by the test'));
    await expect(waiting).rejects.toThrow('canceled by the test');
    return pool.for({ signal: new AbortController().signal }).query(backend());
  }

  it.each(waits)(
    'The pool lends a connection again after %s was canceled, and its next write is stored',
    async (_name, run) => {
      const before = await connection.query(backend());
      expect(await cancel(database, run)).toEqual(before);
      await connection.query(insertStaffUser());
      expect(await testDatabase.sql('delete from staff_users returning id')).toHaveLength(1);
    },
  );

  it('What a transaction wrote before it was canceled is not stored', async () => {
    await cancel(database, (pool, signal) =>
      pool.transaction({ signal }, async (tx) => {
        await tx.query(insertStaffUser());
        return tx.query(wait());
      }),
    );
    expect(await testDatabase.sql('select from staff_users')).toEqual([]);
  });

  it('A transaction that was canceled between its statements stores nothing', async () => {
    const canceling = new AbortController();
    const write = database.transaction({ signal: canceling.signal }, async (tx) => {
      await tx.query(insertStaffUser());
      canceling.abort(new Error('canceled by the test'));
    });
    await expect(write).rejects.toThrow('canceled by the test');
    await connection.query(backend());
    expect(await testDatabase.sql('select from staff_users')).toEqual([]);
  });

  it('The pool lends no connection again whose cancellation may come later', async () => {
    let connections = 0;
    const relay = await startRelay(Number(new URL(testDatabase.url).port), (near, far) => {
      connections += 1;
      const isCancellation = connections === 2;
      if (!isCancellation) near.pipe(far).pipe(near);
    });
    const times = { connectionTimeoutMs: 500, statementTimeoutMs: 1_000 };
    const relayed = openPool(viaPort(testDatabase.url, relay.port), times);
    const before = await relayed.for({ signal: new AbortController().signal }).query(backend());
    expect(await cancel(relayed, (pool, signal) => pool.for({ signal }).query(wait()))).not.toEqual(before);
    await relayed.close();
    await relay.cut();
  });

  it('The pool lends no connection again behind a pooler', async () => {
    const pooled = openPool(testDatabase.url, { directUrl: `${testDatabase.url}?direct` });
    const before = await pooled.for({ signal: new AbortController().signal }).query(backend());
    expect(await cancel(pooled, (pool, signal) => pool.for({ signal }).query(wait()))).not.toEqual(before);
    await pooled.close();
  });

  it.each([
    ['has left already', () => AbortSignal.abort(new Error('left')), undefined, 'left'],
    ['leaves meanwhile', () => AbortSignal.timeout(50), undefined, 'aborted due to timeout'],
    ['waits no longer', () => new AbortController().signal, 50, 'Too many calls wait for the database'],
  ])(
    'A caller that %s while no connection is free is answered, and logs nothing',
    async (_what, signalOf, maxWaitMs, message) => {
      const lines: string[] = [];
      const { database: config } = readConfig('slot', { DATABASE_URL: testDatabase.url, AUTH_JWT_SECRET: testSecret });
      const logger = createLogger('test', 'warn', { write: (line: string) => void lines.push(line) });
      const pool = new Database({ ...config, poolSize: 1 }, logger);
      const ending = new AbortController();
      const waiting = pool.for({ signal: ending.signal }).query(wait());
      await expect.poll(() => testDatabase.sql(asleep)).toHaveLength(1);
      await expect(pool.for({ signal: signalOf(), maxWaitMs }).query(backend())).rejects.toThrow(message);
      ending.abort(new Error('canceled by the test'));
      await expect(waiting).rejects.toThrow('canceled by the test');
      await pool.for({ signal: new AbortController().signal }).query(backend());
      await pool.close();
      expect(lines).toEqual([]);
    },
  );

  it('Of two callers at the same moment one gets the idle connection, and the other one does not wait longer than it may', async () => {
    const pool = openPool(testDatabase.url);
    await pool.for({ signal: new AbortController().signal }).query(backend());
    const ending = new AbortController();
    const first = pool.for({ signal: ending.signal, maxWaitMs: 50 }).query(wait());
    const second = pool.for({ signal: ending.signal, maxWaitMs: 50 }).query(wait());
    first.catch(() => undefined);
    await expect(second).rejects.toThrow('Too many calls wait for the database');
    ending.abort(new Error('canceled by the test'));
    await expect(first).rejects.toThrow('canceled by the test');
    await pool.close();
  });

  it('500 canceled statements end no other one, and cost no connection', () => expectCancelsHarmless(500));
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
