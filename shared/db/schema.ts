import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { requiredSettings } from '../config/session.ts';
import { ConfigError } from '../config/variables.ts';
import type { Database } from './database.ts';
import { poolerProblem, refusalOf } from './errors.ts';
import { type BoundStatement, onlyRow, statement } from './statement.ts';

// This file is apart from migrate.ts, because a service must not load the libraries that migrate.

export const migrationsFolder = fileURLToPath(new URL('./migrations', import.meta.url));
export const migrationsTable = 'schema_migrations';
/** The name of slot-service's job queue. */
export const storeRefreshQueue = 'store-refresh';

/** Names what a database has once for all schemas, such as a queue or a channel (design 14). */
export const ownName = statement<{ name: string }, { name: string }>('ownName', 'select own_name($name) as name');

const appliedMigrations = statement<{ name: string }>(
  'appliedMigrations',
  `select name from ${migrationsTable} order by run_on, id`,
);
const migrationsTableExists = statement<{ schema: string | null; exists: boolean }>(
  'migrationsTableExists',
  `select current_schema() as schema, to_regclass('${migrationsTable}') is not null as exists`,
);

/**
 * Begins the name of a migration after which services of earlier releases can't run. Within a major version there is
 * none.
 */
const breaking = /^\d+_breaking_/;

/**
 * A part that the schema must have, by its migrations, and that is missing, disabled or not granted to the current
 * role.
 */
const missingParts = statement<{ part: string }>(
  'missingParts',
  `select kind || ' ' || name as part
   from (
     select kind, name from schema_parts
     except all select 'constraint', conname from pg_constraint join pg_class on pg_class.oid = conrelid
       where relnamespace = current_schema()::regnamespace and starts_with(conname::text, relname || '_')
     except all select 'index', relname from pg_index join pg_class on oid = indexrelid
       where relnamespace = current_schema()::regnamespace and indisvalid
     except all select 'trigger', relname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
       where relnamespace = current_schema()::regnamespace and tgenabled in ('O', 'A')
     except all select 'grant', privilege || ' on ' || relname
       from pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
       where relnamespace = current_schema()::regnamespace and relkind = 'r' and case
         when relname = 'audit_entries' and privilege = 'INSERT' then has_any_column_privilege(oid, privilege)
         else has_table_privilege(oid, privilege) end
     except all select 'grant', 'EXECUTE on ' || proname from pg_proc
       where pronamespace = current_schema()::regnamespace and has_function_privilege(oid, 'EXECUTE')
     union all select 'the rows of', 'schema_parts' where not exists (select from schema_parts)
   ) as missing
   order by 1`,
);

/** What to tell of each setting of the session that has another value than statements need. */
const foreignSettings = statement<{ problem: string }, { required: string }>(
  'foreignSettings',
  `select format('the session has %s = %s: run \`alter role %I in database %I set %s = %L\`, and connect a pooler anew',
     name, setting, session_user, current_database(), name, value) as problem
   from pg_settings join json_each_text($required::json) as required (name, value) using (name)
   where case name when 'synchronous_commit' then setting = 'off' when 'extra_float_digits' then setting::integer < 1
     when 'default_transaction_isolation' then setting not like 'read %' else split_part(setting, ',', 1) <> value end
   order by name`,
);

/** Whether a table exists and the current role may read it. */
const isReadable = statement<{ isReadable: boolean }, { table: string }>(
  'isReadable',
  `select coalesce(has_table_privilege(to_regclass($table), 'SELECT'), false) as "isReadable"`,
);

/** Runs a statement on the database that is looked at, as the role whose rights are. */
export type Run = <Row extends object>(statement: BoundStatement<Row>) => Promise<readonly Row[]>;

/** Throws a `ConfigError` if the session has a setting with which rows or answers would be wrong. */
export async function assertSession(run: Run): Promise<void> {
  const foreign = await run(foreignSettings({ required: JSON.stringify(requiredSettings) }));
  if (foreign.length > 0) throw new ConfigError(foreign.map(({ problem }) => problem).join('\n'));
}

/**
 * Throws a `ConfigError` that names what the schema must have and lacks, for example after a restore that failed
 * halfway.
 */
export async function assertComplete(run: Run): Promise<void> {
  const [table] = await run(isReadable({ table: 'schema_parts' }));
  const parts = table?.isReadable
    ? (await run(missingParts())).map(({ part }) => part)
    : ['table schema_parts or grant SELECT on schema_parts'];
  if (parts.length > 0)
    throw new ConfigError(`the schema lacks ${parts.join(', ')}: see "What a schema lacks" in docs/operating.md`);
}

/**
 * Throws a `ConfigError` if sessions lead to another schema, or if the schema lacks a migration of this code or a part,
 * or has a breaking migration that this code does not know. Services of the release before may start while those of a
 * newer one replace them.
 */
export async function assertMigrated(database: Database, schema: string): Promise<void> {
  const db = database.for({ signal: AbortSignal.timeout(10_000) });
  const [table] = await db.query(migrationsTableExists()).catch((error: unknown) => {
    if (poolerProblem(error) !== undefined) throw error;
    const refusal = refusalOf(error);
    throw new ConfigError(
      `the database at DATABASE_URL ${refusal === undefined ? 'does not answer' : `refuses: ${refusal}`}`,
    );
  });
  await assertSession((statement) => db.query(statement));
  if (table?.schema && table.schema !== schema) {
    throw new ConfigError(
      `the search path leads to the schema ${table.schema}, and not to ${schema}: set DATABASE_SCHEMA, or behind a pooler ` +
        'migrate with SERVICE_DATABASE_URL, which sets the path of the role',
    );
  }
  if (table?.exists && !onlyRow(await db.query(isReadable({ table: migrationsTable }))).isReadable) {
    throw new ConfigError(`the schema lacks grant SELECT on ${migrationsTable}: migrate with SERVICE_DATABASE_URL`);
  }
  const applied = table?.exists ? (await db.query(appliedMigrations())).map(({ name }) => name) : [];
  const known = await knownMigrations();
  if (known.some((name) => !applied.includes(name))) {
    throw new ConfigError(
      `the schema ${schema} is not migrated: run \`start:migrate\` first, or set DATABASE_SCHEMA to another one`,
    );
  }
  if (applied.some((name) => !known.includes(name) && breaking.test(name))) {
    throw new ConfigError('the database has the schema of a newer major release: start that one');
  }
  await assertComplete((statement) => db.query(statement));
}

async function knownMigrations(): Promise<string[]> {
  const files = await readdir(migrationsFolder);
  return files.filter((file) => /^\w.*\.(?:sql|js)$/.test(file)).map((file) => path.parse(file).name);
}
