import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { templateDatabase } from './postgres.ts';

/** A database of a test's own, cloned from the migrated template. */
export interface TestDatabase {
  readonly url: string;
  /** Runs SQL beside the service under test. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Rejects when anything but this object is still connected. The data goes with the server. */
  close(): Promise<void>;
}

export async function createDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name} template ${templateDatabase}`);
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
 * A connection that was closed may take the server a moment to notice; one left open never goes. The
 * database is not dropped: file systems are slow to create files where many were just deleted.
 */
async function untilUnused(server: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const left = await onServer(server, 'select from pg_stat_activity where datname = $1', [name]);
    if (left === 0) return;
    if (attempt === 100) throw new Error('a test left a database connection open');
    await pause(50);
  }
}

/** Runs a statement on the server and tells how many rows it gave. */
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
