import pino from 'pino';
import { expect } from 'vitest';
import { readConfig } from '../../shared/config/config.ts';
import { Database } from '../../shared/db/database.ts';
import type { TestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { queryOnce } from './postgres-server.ts';
import { testSecret } from './tokens.ts';

/** Opens the pool of a service. Who opens it closes it. */
export function openPool(url: string, applicationName = 'a pool of a test'): Database {
  const { database } = readConfig('coupon', { DATABASE_URL: url, AUTH_JWT_SECRET: testSecret });
  return new Database({ ...database, applicationName }, pino({ level: 'silent' }));
}

/** What is counted: rows of the table, or entries of its indexes with the rows of scans without one. */
const counters = {
  rows: 'select seq_tup_read + idx_tup_fetch as n from pg_stat_user_tables where relname = $1',
  entries: `select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes where relid = read.relid) as n
    from pg_stat_user_tables as read where relname = $1`,
};

/** How much of a table a read reads. A scan that reads nothing but the index reads entries, and no rows. */
export async function rowsReadBy(
  own: TestDatabase,
  table: string,
  read: (database: Database) => Promise<unknown>,
  counted: keyof typeof counters = 'rows',
): Promise<number> {
  const url = new URL(own.url);
  url.searchParams.set('options', '-c track_counts=on');
  const other = openPool(url.href, 'of this test');
  const readRows = async () => {
    const [row] = await own.sql<{ n: string }>(counters[counted], [table]);
    return Number(row?.n);
  };
  // This commit flushes those before it. Only then vacuum marks their rows as visible to all, which such scans need.
  await own.sql('begin; set local synchronous_commit = on; select pg_current_xact_id(); commit');
  await own.sql(`vacuum analyze ${table}`);
  const before = await readRows();
  // A connection reports what it read when it ends.
  await read(other).finally(() => other.close());
  await eventually(async () => {
    const left = await own.sql(`select pid from pg_stat_activity where application_name = 'of this test'`);
    expect(left).toEqual([]);
  });
  await untilReported(own, url.href);
  return (await readRows()) - before;
}

/** Before PostgreSQL 15, reports arrive late, but in their order: waits for one of a connection that ends now. */
async function untilReported(own: TestDatabase, countingUrl: string): Promise<void> {
  const scans = async () => {
    const [row] = await own.sql<{ n: string }>(
      `select seq_scan as n from pg_stat_user_tables where relname = 'schema_migrations'`,
    );
    return Number(row?.n);
  };
  const before = await scans();
  await queryOnce(countingUrl, 'select from schema_migrations');
  await eventually(async () => expect(await scans()).toBeGreaterThan(before));
}
