import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { eventually } from './eventually.ts';
import { templateDatabase } from './postgres.ts';

/** A database of a test's own, cloned from the migrated template. */
export interface TestDatabase {
  readonly url: string;
  /** Runs SQL beside the service under test. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Rejects when anything but this object is still connected. The data stays until the server is removed. */
  close(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  // By files: by way of its log, PostgreSQL takes four times the CPU.
  await onServer(server, `create database ${name} template ${templateDatabase} strategy file_copy`);
  const url = `${server}/${name}`;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  return {
    url,
    async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const result = await pool.query<Row>(text, [...values]);
      return result.rows;
    },
    async close() {
      await pool.end();
      await untilUnused(server, name);
    },
  };
}

/**
 * The server may take a moment to notice that a connection was closed; one that was left open stays. The
 * database is not dropped: file systems are slow to create files where many were just deleted.
 */
async function untilUnused(server: string, name: string): Promise<void> {
  await eventually(async () => {
    const left = await onServer(server, 'select from pg_stat_activity where datname = $1', [name]);
    if (left > 0) throw new Error('a test left a database connection open');
  });
}

/** Runs a statement on the server and returns the number of its rows. */
async function onServer(url: string, text: string, values: readonly string[] = []): Promise<number> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  try {
    const result = await client.query(text, [...values]);
    return result.rowCount ?? 0;
  } finally {
    await client.end();
  }
}
