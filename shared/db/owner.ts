import pg from 'pg';
import { inSchema, readSchema } from '../config/database.ts';
import { ConfigError, ConfigErrors, readPostgresUrl } from '../config/variables.ts';
import { connectionErrorMessage } from './errors.ts';

/**
 * Runs an operator's command on a connection to `DATABASE_URL`, which has to name the role that owns the schema.
 *
 * @returns what `work` resolves with. Throws a `ConfigError` if the database can't be asked, or refuses.
 */
export async function asOwner<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const errors = new ConfigErrors();
  const schema = readSchema(process.env, errors);
  const url = inSchema(readPostgresUrl(process.env, 'DATABASE_URL', errors) ?? '', schema);
  if (!process.env.DATABASE_URL) {
    errors.add('DATABASE_URL is not set: give the URL of the role that owns the schema');
  }
  errors.throwIfAny();
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    return await work(client);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(`the database could not be asked: ${connectionErrorMessage(error)}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
