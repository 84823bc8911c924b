import { inSession, statementTimeoutMs } from './session.ts';
import { type ConfigErrors, type Environment, readPostgresUrl, readSwitch } from './variables.ts';

/** How a service reaches its tables. */
export interface DatabaseConfig {
  readonly url: string;
  /** Bypasses a pooler, for LISTEN and the job queue, which need a session of their own. */
  readonly directUrl: string;
  /** The schema of all tables (design 14). */
  readonly schema: string;
  /** Whether statements are prepared under their names. */
  readonly prepare: boolean;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly connectionTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** Reads how a service reaches its tables. */
export function readDatabase(applicationName: string, env: Environment, errors: ConfigErrors): DatabaseConfig {
  const schema = readSchema(env, errors);
  const url = readPostgresUrl(env, 'DATABASE_URL', errors) ?? '';
  if (!env.DATABASE_URL) {
    errors.add('DATABASE_URL is not set: give a PostgreSQL URL, or use npm start, which brings its own');
  }
  const directUrl = readPostgresUrl(env, 'DATABASE_DIRECT_URL', errors);
  return {
    // A pooler takes no startup options: the role has the settings there.
    url: directUrl === undefined || directUrl === url ? inSession(url, schema) : url,
    directUrl: inSession(directUrl ?? url, schema),
    schema,
    prepare: readSwitch(env, 'DATABASE_PREPARE', true, errors),
    applicationName,
    poolSize: 14,
    connectionTimeoutMs: 5_000,
    statementTimeoutMs,
  };
}

/** The schema of all tables where `DATABASE_SCHEMA` is not set. */
export const defaultSchema = 'public';

// The names of notification channels begin with it, and have 63 bytes at most.
const schemaName = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,39}$/;

/** Reads the name of the schema that all tables are in (design 14). */
export function readSchema(env: Environment, errors: ConfigErrors): string {
  const name = env.DATABASE_SCHEMA || defaultSchema;
  if (!schemaName.test(name)) {
    errors.add(
      'DATABASE_SCHEMA must be a name of at most 40 lower-case letters, digits and underscores, not one of ' +
        `PostgreSQL's own, and not "${name}"`,
    );
  }
  return name;
}
