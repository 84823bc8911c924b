import pino from 'pino';
import { expect } from 'vitest';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import type { TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { testSecret } from './tokens.ts';

/** Opens the pool of a service. Who opens it closes it. */
export function openPool(url: string, applicationName = 'a pool of a test'): Database {
  const { database } = readConfig('coupon', { DATABASE_URL: url, AUTH_JWT_SECRET: testSecret });
  return new Database({ ...database, applicationName }, pino({ level: 'silent' }));
}

/** How many rows of a table a read reads: of a scan that reads nothing but the index, none. */
export async function rowsReadBy(
  own: TestDatabase,
  table: string,
  read: (database: Database) => Promise<unknown>,
): Promise<number> {
  const other = openPool(own.url, 'of this test');
  const readRows = async () => {
    const [row] = await own.sql<{ n: string }>(
      'select seq_tup_read + idx_tup_fetch as n from pg_stat_user_tables where relname = $1',
      [table],
    );
    return Number(row?.n);
  };
  await own.sql(`vacuum analyze ${table}`);
  const before = await readRows();
  // A connection reports what it read when it ends.
  await read(other).finally(() => other.close());
  await eventually(async () => {
    const left = await own.sql(`select pid from pg_stat_activity where application_name = 'of this test'`);
    expect(left).toEqual([]);
  });
  return (await readRows()) - before;
}
