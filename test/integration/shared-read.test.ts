import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallSignal } from '../../shared/cancellation/signal.ts';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import { statement } from '../../shared/db/statement.ts';
import { keyedStatement, readBySize, SharedRead, type Sized, sharedRows } from '../../shared/reads/shared-read.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { holding } from '../support/locks.ts';
import { testSecret } from '../support/tokens.ts';

interface EntryRow {
  key: number;
  value: string;
}

const selectEntries = statement<EntryRow, { keys: readonly number[] }>(
  'sharedEntries',
  'select key, value from entries where key = any($keys::integer[])',
);

const lockEntries = 'lock table entries in access exclusive mode';

describe('A shared read', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  /** The keys of each statement. */
  let statements: (readonly number[])[];

  beforeAll(async () => {
    testDatabase = await createDatabase();
    await testDatabase.sql('create table entries (key integer primary key, value text not null)');
    await testDatabase.sql(`insert into entries select n, 'value ' || n from generate_series(1, 200) n`);
    const config = readConfig('slot', { DATABASE_URL: testDatabase.url, AUTH_JWT_SECRET: testSecret });
    database = new Database(config.database, createLogger('test', 'silent'));
  });
  afterAll(async () => {
    await database.close();
    await testDatabase.close();
  });
  beforeEach(() => {
    statements = [];
  });
  let signals: CallSignal[] = [];
  afterEach(() => {
    signals = [];
  });

  /** A caller whose signal can be aborted by its place in `signals`. */
  function caller(subject = 'caller', maxWaitMs?: number) {
    const signal = new CallSignal();
    signals.push(signal);
    return { subject, signal, maxWaitMs };
  }

  function entries(maxRunning = 1, maxKeys = 128, maxReads = 128) {
    return new SharedRead<number, EntryRow>(
      async (keys, process) => {
        statements.push(keys);
        const rows = await database.for(process).query(selectEntries({ keys }));
        return new Map(rows.map((row) => [row.key, row]));
      },
      { maxRunning, maxKeys, maxReads },
    );
  }

  /** Runs work while one statement is under way, which ends when the work asks for it. */
  async function whileRunning<Result>(
    read: SharedRead<number, EntryRow>,
    work: (end: () => Promise<void>) => Promise<Result>,
  ): Promise<Result> {
    return holding(testDatabase.url, lockEntries, async (lock) => {
      const first = read.read(1, caller('first'));
      await lock.untilAwaited();
      const result = await work(lock.release);
      expect(await first).toEqual({ key: 1, value: 'value 1' });
      return result;
    });
  }

  it('Reads that arrive while one is under way share one statement, which asks for each key once', async () => {
    const read = entries();
    const found = await Promise.all([4, 5, 6, 5, 999].map((key) => read.read(key, caller())));
    expect(found.map((row) => row?.value)).toEqual(['value 4', 'value 5', 'value 6', 'value 5', undefined]);
    expect(statements).toEqual([[4], [5, 6, 999]]);
  });

  it.each([
    ['integer', [3, 4, 999], 'value 3'],
    ['text', ['3', "4'", '$5'], 'value 3'],
  ] as const)(
    'The SQL of one key of type %s finds the same row for it alone and among others',
    async (type, keys, value) => {
      const select = keyedStatement<string | number, { asked: string; value: string }, { suffix: string }>(
        `keyed ${type}`,
        type,
        `select $key::text as asked, value || $suffix as value from entries where key::text = ($key)::text -- the end`,
      );
      const db = database.for(caller());
      const alone = await db.query(select([keys[0]], { suffix: '!' }));
      const among = await db.query(select(keys, { suffix: '!' }));
      expect(alone).toEqual([{ asked: String(keys[0]), value: `${value}!` }]);
      expect(among.filter(({ asked }) => asked === String(keys[0]))).toEqual(alone);
    },
  );

  it('A read with several keys gets all of their values', async () => {
    const values = await entries().readAll([7, 8], caller());
    expect([...values.keys()].sort()).toEqual([7, 8]);
  });

  it('The callers join a statement in turn, whoever came first', async () => {
    const read = entries(1, 4);
    await whileRunning(read, async (end) => {
      const busy = [11, 12, 13, 14, 15, 16].map((key) => read.read(key, caller('busy')));
      const calm = read.read(21, caller('calm'));
      await end();
      await Promise.all([...busy, calm]);
    });
    expect(statements).toEqual([[1], [11, 21, 12, 13], [14, 15, 16]]);
  });

  it('A statement takes so many reads and no more, also of one key', async () => {
    const read = entries(1, 128, 2);
    await Promise.all([5, 5, 5, 5, 5].map((key) => read.read(key, caller())));
    expect(statements).toEqual([[5], [5], [5]]);
  });

  it('Each read that waits gets the error when no connection can be lent', async () => {
    const config = readConfig('slot', {
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      AUTH_JWT_SECRET: testSecret,
    });
    const away = new Database(config.database, createLogger('test', 'silent'));
    const read = sharedRows(
      away,
      (keys: readonly number[]) => selectEntries({ keys }),
      ({ key }) => key,
    );
    const errors = await Promise.allSettled([1, 2].map((key) => read.read(key, caller())));
    for (const error of errors) {
      expect(error).toMatchObject({ status: 'rejected', reason: { rawMessage: 'The database is unavailable' } });
    }
    await away.close();
  });

  it('A caller who leaves gets the reason of its signal, and the others of its statement their answers', async () => {
    const read = entries(2);
    await holding(testDatabase.url, lockEntries, async (lock) => {
      const lone = read.read(30, caller());
      const [leaving, staying] = [31, 32].map((key) => read.read(key, caller()));
      await lock.untilAwaited(2);
      const waiting = read.read(33, caller());
      const next = read.read(34, caller());
      signals[1]?.abort(() => new Error('left its statement'));
      signals[3]?.abort(() => new Error('left the line'));
      await expect(leaving).rejects.toThrow('left its statement');
      await expect(waiting).rejects.toThrow('left the line');
      await lock.release();
      expect(await lone).toEqual({ key: 30, value: 'value 30' });
      expect(await staying).toEqual({ key: 32, value: 'value 32' });
      expect(await next).toEqual({ key: 34, value: 'value 34' });
    });
    expect(statements).toEqual([[30], [31, 32], [34]]);
  });

  it('A read of a caller who has left already asks for nothing', async () => {
    const gone = caller();
    gone.signal.abort(() => new Error('left'));
    await expect(entries().read(1, gone)).rejects.toThrow('left');
    expect(statements).toEqual([]);
  });

  it('The error of a statement reaches each of its reads, and the next statement is another one', async () => {
    const read = sharedRows(
      database,
      (keys: readonly number[]) => statement<{ key: number }>('', `select 1 / ${keys[0]} as key`)(),
      ({ key }) => key,
    );
    const errors = await Promise.allSettled([0, 0, 0].map((key) => read.read(key, caller())));
    for (const error of errors) {
      expect(error).toMatchObject({ status: 'rejected', reason: { rawMessage: 'A value cannot be stored' } });
    }
    expect(await read.read(1, caller())).toEqual({ key: 1 });
  });

  it('A read waits for its statement no longer than its caller wants', async () => {
    const read = entries();
    await whileRunning(read, async (end) => {
      await expect(read.read(51, caller('calm', 1))).rejects.toMatchObject({
        rawMessage: 'Too many calls wait for the database',
      });
      await end();
    });
    expect(statements).toEqual([[1]]);
  });

  it('A read gives the place of its call back', async () => {
    const releasePermit = vi.fn();
    await entries().read(1, { ...caller(), releasePermit });
    expect(releasePermit).toHaveBeenCalledOnce();
  });

  it('A large row is read by its call alone, on a place, and a small one together with others', async () => {
    const sizes: [keys: readonly number[], maxSize: number][] = [];
    const read = readBySize<number, { key: number }, object, string>(database, {
      select(keys, { maxSize }) {
        sizes.push([keys, maxSize]);
        const rows = keys.map((key) => `select ${key} as key, ${key} > ${maxSize} as "isTooLarge"`);
        return statement<Sized<{ key: number }, object>>('', rows.join(' union all '))();
      },
      keyOf: ({ key }) => key,
      toValue: ({ key }) => `row ${key}`,
      maxSizes: { shared: 10, alone: 100 },
    });
    const takePermit = vi.fn(async () => undefined);
    const asking = () => ({ ...caller(), takePermit });
    const [first, small, large, tooLarge] = await Promise.allSettled([4, 5, 50, 500].map((key) => read(key, asking())));
    expect(first).toEqual({ status: 'fulfilled', value: 'row 4' });
    expect(small).toEqual({ status: 'fulfilled', value: 'row 5' });
    expect(large).toEqual({ status: 'fulfilled', value: 'row 50' });
    expect(tooLarge).toMatchObject({ status: 'rejected', reason: { code: 8 } });
    expect(takePermit).toHaveBeenCalledTimes(2);
    expect(sizes).toEqual([
      [[4], 10],
      [[5, 50, 500], 10],
      [[50], 100],
      [[500], 100],
    ]);
  });
});
