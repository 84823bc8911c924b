import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runMigrations } from 'bullmq';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { ConfigError } from '../config/variables.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

const directory = fileURLToPath(new URL('./migrations', import.meta.url));
const migrationsTable = 'schema_migrations';

/**
 * Migrates a database to the newest schema. Processes that migrate at the same time wait for one another.
 *
 * @returns the names of the migrations that were applied.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const done = await runner({
    databaseUrl,
    dir: directory,
    migrationsTable,
    direction: 'up',
    checkOrder: true,
    log: () => undefined,
  });
  await migrateJobs(databaseUrl);
  return done.map(({ name }) => name);
}

/** The name of slot-service's job queue. */
export const storeRefreshQueue = 'store-refresh';

/**
 * Creates BullMQ's tables in a schema of their own, for the job queue when `REDIS_URL` is not set. The first call of
 * `next_job_id` for a queue creates a sequence. Services lack the right to do so, so it is called here.
 */
async function migrateJobs(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await runMigrations(client);
    await client.query('set search_path to bullmq');
    await client.query('select next_job_id($1)', [storeRefreshQueue]);
  } finally {
    await client.end();
  }
}

const appliedMigrations = statement<{ name: string }>(
  'appliedMigrations',
  `select name from ${migrationsTable} order by run_on, id`,
);
const migrationsTableExists = statement<{ exists: boolean }>(
  'migrationsTableExists',
  `select to_regclass('${migrationsTable}') is not null as exists`,
);

/** Throws a `ConfigError` if the database's schema is older or newer than this code. */
export async function assertMigrated(database: Database): Promise<void> {
  const db = database.for({ signal: AbortSignal.timeout(10_000) });
  const [table] = await db.query(migrationsTableExists()).catch(() => {
    throw new ConfigError('the database at DATABASE_URL does not answer');
  });
  const applied = table?.exists ? (await db.query(appliedMigrations())).map(({ name }) => name) : [];
  const known = await knownMigrations();
  if (known.some((name) => !applied.includes(name))) {
    throw new ConfigError('the database is not migrated: run `npm run migrate` first');
  }
  if (applied.some((name) => !known.includes(name))) {
    throw new ConfigError('the database has a newer schema than this release: start a newer one');
  }
}

async function knownMigrations(): Promise<string[]> {
  const files = await readdir(directory);
  return files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length));
}
