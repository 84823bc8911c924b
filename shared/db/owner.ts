import pg from 'pg';
import { readSchema } from '../config/database.ts';
import { inSession, settleSession } from '../config/session.ts';
import { ConfigError, ConfigErrors, readPostgresUrl } from '../config/variables.ts';
import { connectionErrorMessage } from './errors.ts';
import { assertSession, type Run } from './schema.ts';

/**
 * Runs an operator's command on a connection to `DATABASE_URL`, which has to name the role that owns the schema.
 *
 * @returns what `work` resolves with. Throws a `ConfigError` if the database can't be asked, or refuses.
 */
export async function asOwner<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const errors = new ConfigErrors();
  const schema = readSchema(process.env, errors);
  const url = readPostgresUrl(process.env, 'DATABASE_URL', errors) ?? '';
  if (!process.env.DATABASE_URL) {
    errors.add('DATABASE_URL is not set: give the URL of the role that owns the schema');
  }
  errors.throwIfAny();
  try {
    return await withSession(url, schema, work);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`the database could not be asked: ${connectionErrorMessage(error)}`);
  }
}

/** Runs `work` on a connection of its own, with the settings of sessions. Throws a `ConfigError` as `assertSession` does. */
export async function withSession<Result>(
  databaseUrl: string,
  schema: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: inSession(databaseUrl, schema), connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    await client.query(settleSession);
    await assertSession(runOn(client));
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Returns a function that runs statements on a connection. */
export const runOn =
  (client: pg.Client): Run =>
  async ({ text, values }) =>
    (await client.query(text, [...values])).rows;
