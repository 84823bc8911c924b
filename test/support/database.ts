import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { eventually } from './eventually.ts';
import { asServiceRole, templateDatabase } from './postgres.ts';

/** A database of a test's own, cloned from the migrated template. */
export interface TestDatabase {
  readonly url: string;
  /** How services reach it; unset: as their role, directly. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs SQL beside the service under test. */
  sql<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Drops it. Rejects when anything but this object is still connected. */
  close(): Promise<void>;
}

/** What a test makes of each new database. */
interface Kind {
  /** Prepares it. Resolves with the variables of services. */
  prepare(url: string): Promise<Readonly<Record<string, string>>>;
  /** Closes what else is connected to it. */
  release(): Promise<void>;
}

const plain: Kind = {
  prepare: async (url) => ({ DATABASE_URL: asServiceRole(url) }),
  release: async () => undefined,
};
let kind = plain;

/** Makes databases of another kind from now on; undefined: plain ones again. */
export function makeDatabases(of: Kind = plain): void {
  kind = of;
}

export async function createDatabase(): Promise<TestDatabase> {
  const { prepare, release } = kind;
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: `${server}/postgres` });
  await admin.connect();
  await admin.query(`create database ${name} template ${templateDatabase} ${inject('copyByFiles')}`);
  const url = `${server}/${name}`;
  const variables = await prepare(url);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  return {
    url,
    variables,
    async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const result = await pool.query<Row>(text, [...values]);
      return result.rows;
    },
    async close() {
      await pool.end();
      await release();
      try {
        // PostgreSQL may take a moment to notice that a connection was closed. One that was left open stays.
        await eventually(async () => {
          const { rowCount } = await admin.query('select from pg_stat_activity where datname = $1', [name]);
          if (rowCount !== 0) throw new Error('a test left a database connection open');
        });
        await admin.query(`drop database ${name}`);
      } finally {
        await admin.end();
      }
    },
  };
}

/** The id that a statement returns. */
export async function idOf(sql: TestDatabase['sql'], text: string, values?: readonly unknown[]): Promise<number> {
  const [row] = await sql<{ id: number }>(text, values);
  if (row === undefined) throw new Error('the statement returned no row');
  return row.id;
}
