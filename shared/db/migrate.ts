import { setTimeout as pause } from 'node:timers/promises';
import { runMigrations } from 'bullmq';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { defaultSchema } from '../config/database.ts';
import { ConfigError } from '../config/variables.ts';
import { runOn, withSession } from './owner.ts';
import { assertComplete, migrationsFolder, migrationsTable, storeRefreshQueue } from './schema.ts';

/**
 * All later readers of a table queue behind a statement that waits to lock it. The wait is
 * therefore short, and retried.
 */
const lockTimeoutMs = 250;
const pauseMs = 500;
const giveUpMs = 10 * 60_000;
const lockNotAvailable = '55P03';
/** Of a build beside the writes, which waits for transactions. */
const deadlockDetected = '40P01';
const uniqueViolation = '23505';

/**
 * Migrates a database to the newest schema, each migration in its own transaction, but for those that build indexes
 * while services write. Concurrent calls wait for one another. A migration blocked by a lock, such as a backup's, is
 * retried for minutes without holding up reads.
 *
 * @param schema of all tables, created if it is missing (design 14).
 * @param retentionDays how many days to keep audit entries; null: for ever, undefined: unchanged.
 * @returns the names of the applied migrations. Throws a `ConfigError` if a lock blocks a migration for 10 minutes, or
 * if the schema lacks a part then.
 */
export async function migrate(
  databaseUrl: string,
  schema = defaultSchema,
  retentionDays?: number | null,
): Promise<string[]> {
  const applied: string[] = [];
  const applyNext = (dbClient: pg.Client) =>
    runner({
      dbClient,
      dir: migrationsFolder,
      migrationsTable,
      schema,
      migrationsSchema: schema,
      direction: 'up',
      count: 1,
      checkOrder: true,
      advisoryLockMode: 'wait',
      log: () => undefined,
    });
  const run = <Result>(work: (client: pg.Client) => Promise<Result>) => runUntilUnlocked(databaseUrl, schema, work);
  await run((client) => createSchema(client, schema));
  for (let done = await run(applyNext); done.length > 0; done = await run(applyNext)) {
    applied.push(...done.map(({ name }) => name));
  }
  await run(migrateJobs);
  if (retentionDays !== undefined) {
    await run((client) =>
      client.query('update audit_retention set days = $1 where days is distinct from $1', [retentionDays]),
    );
  }
  await run((client) => assertComplete(runOn(client)));
  return applied;
}

/**
 * Runs `work` on a connection of its own, and retries while another transaction holds a lock that it needs. Throws a
 * `ConfigError` after 10 minutes of retries.
 */
async function runUntilUnlocked<Result>(
  databaseUrl: string,
  schema: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  for (const since = Date.now(); ; await pause(pauseMs)) {
    try {
      return await withSession(databaseUrl, schema, async (client) => {
        // Released migrations name `public` in bodies of functions that a later one replaces.
        await client.query(`set lock_timeout to ${lockTimeoutMs}; set check_function_bodies = off`);
        return work(client);
      });
    } catch (error) {
      const isLocked =
        error instanceof pg.DatabaseError && [lockNotAvailable, deadlockDetected].includes(error.code ?? '');
      if (!isLocked) throw error;
      if (Date.now() - since < giveUpMs) continue;
      throw new ConfigError(
        'another transaction, such as a backup or another migration, holds a lock: migrate again when it has ended',
      );
    }
  }
}

// Asks first: the owner of an existing schema may lack the right to create others. A concurrent call may create it, too.
async function createSchema(client: pg.Client, schema: string): Promise<void> {
  const { rowCount } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rowCount !== 0) return;
  await client.query(`create schema if not exists ${client.escapeIdentifier(schema)}`).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError && error.code === uniqueViolation)) throw error;
  });
}

/**
 * Creates BullMQ's tables in their own schema, for the job queue without `REDIS_URL`. The first call of `next_job_id`
 * for a queue creates a sequence. Services lack the right to do that, so the migration makes the call.
 */
async function migrateJobs(client: pg.Client): Promise<void> {
  await runMigrations(client);
  await client.query('select bullmq.next_job_id(own_name($1))', [storeRefreshQueue]);
}
