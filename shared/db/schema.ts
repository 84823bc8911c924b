import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../config/variables.ts';
import type { Database } from './database.ts';
import { poolerProblem } from './errors.ts';
import { statement } from './statement.ts';

// This file is apart from migrate.ts, because a service must not load the libraries that migrate.

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));
export const migrationsTable = 'schema_migrations';
/** The name of slot-service's job queue. */
export const storeRefreshQueue = 'store-refresh';

const appliedMigrations = statement<{ name: string }>(
  'appliedMigrations',
  `select name from ${migrationsTable} order by run_on, id`,
);
const migrationsTableExists = statement<{ exists: boolean }>(
  'migrationsTableExists',
  `select to_regclass('${migrationsTable}') is not null as exists`,
);

/** Begins the name of a migration after which services of earlier releases can't run. Within a major version there is none. */
const breaking = /^\d+_breaking_/;

/**
 * Throws a `ConfigError` if the database lacks a migration of this code, or has a breaking one that this code does not know.
 * Services of the release before may start while those of a newer one replace them.
 */
export async function assertMigrated(database: Database): Promise<void> {
  const db = database.for({ signal: AbortSignal.timeout(10_000) });
  const [table] = await db.query(migrationsTableExists()).catch((error: unknown) => {
    throw poolerProblem(error) === undefined ? new ConfigError('the database at DATABASE_URL does not answer') : error;
  });
  const applied = table?.exists ? (await db.query(appliedMigrations())).map(({ name }) => name) : [];
  const known = await knownMigrations();
  if (known.some((name) => !applied.includes(name))) {
    throw new ConfigError('the database is not migrated: run `npm run migrate` first');
  }
  if (applied.some((name) => !known.includes(name) && breaking.test(name))) {
    throw new ConfigError('the database has the schema of a newer major release: start that one');
  }
}

async function knownMigrations(): Promise<string[]> {
  const files = await readdir(migrationsFolder);
  return files.filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length));
}
