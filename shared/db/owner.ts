import pg from 'pg';
import { readSchema } from '../config/database.ts';
import { inSession, settleSession } from '../config/session.ts';
import { ConfigError, ConfigErrors, type Environment, readPostgresUrl } from '../config/variables.ts';
import { connectionErrorMessage } from './errors.ts';
import { assertSession, type Run } from './schema.ts';

/**
 * Runs an operator's command on a connection of the role that owns the schema.
 *
 * @returns what `work` resolves with. Throws a `ConfigError` if the database can't be asked, or refuses.
 */
export async function asOwner<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const errors = new ConfigErrors();
  const schema = readSchema(process.env, errors);
  const url = readOwnerUrl(process.env, errors);
  errors.throwIfAny();
  try {
    return await withSession(url, schema, work);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`the database could not be asked: ${connectionErrorMessage(error)}`);
  }
}

/** Reads the URL of the role that owns the schema. It leads past a pooler, which keeps neither settings nor locks. */
export function readOwnerUrl(env: Environment, errors: ConfigErrors): string {
  const name = env.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  if (!env[name]) errors.add('DATABASE_URL is not set: give the URL of the role that owns the schema');
  return readPostgresUrl(env, name, errors) ?? '';
}

/**
 * Runs `work` on a connection of its own, with the settings of sessions. Throws a `ConfigError` as `assertSession`
 * does.
 */
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
