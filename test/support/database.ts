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
  /** Drops the database; rejects when anything but this object is still connected to it. */
  drop(): Promise<void>;
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
    async drop() {
      await pool.end();
      await dropUnused(server, name);
    },
  };
}

/** A connection that was closed may take the server a moment to notice; one left open never goes. */
async function dropUnused(server: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await onServer(server, `drop database ${name}`);
      return;
    } catch (error) {
      if (attempt === 40) throw new Error('a test left a database connection open', { cause: error });
      await pause(50);
    }
  }
}

async function onServer(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
