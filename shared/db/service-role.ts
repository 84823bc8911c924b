import type pg from 'pg';
import { defaultSchema } from '../config/database.ts';
import { roleSettings } from '../config/session.ts';
import { ConfigError } from '../config/variables.ts';
import { connectionErrorMessage } from './errors.ts';
import { withSession } from './owner.ts';

/** The columns of an audit entry that a service may write. The database sets the id and the time. */
const entryColumns = 'procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes';

/** Concurrent migrations would update the same rows of the system catalog, which fails without the lock. */
const boundWait = `set local lock_timeout = '1min'`;
const lockRole = `select pg_advisory_xact_lock(hashtext('service role'))`;

/**
 * Grants the services' rights to the role that they connect as. The role may read and write all rows, with some
 * exceptions. It may only read the staff users, the lists of migrations, of parts and of freed ids, and the retention
 * of audit entries. It may insert audit entries, but neither set their time nor change them. The role owns nothing and
 * can't change the schema.
 *
 * @param databaseUrl the URL with which the schema's owner connects.
 * @param serviceUrl the URL with which services connect. A missing role is created with the URL's password. An existing
 * role gets the URL's password, unless the URL has none.
 * @param schema of all tables. The role's sessions in this database lead there, and have `roleSettings`, also behind a
 * pooler.
 * @returns what was done, as lines. Throws a `ConfigError` if the rights can't be granted.
 */
export async function grantServiceRole(
  databaseUrl: string,
  serviceUrl: string,
  schema = defaultSchema,
): Promise<string[]> {
  const { username, password } = new URL(serviceUrl);
  const name = decodeURIComponent(username);
  return withSession(databaseUrl, schema, async (client) => {
    const { rows } = await client.query<{ owner: string; exists: boolean; isSuper: boolean }>(
      `select current_user as owner, rolname is not null as exists, coalesce(rolsuper, false) as "isSuper"
       from (values (1)) as one left join pg_roles on rolname = $1`,
      [name],
    );
    const [state] = rows;
    if (name === '' || name === state?.owner || state?.isSuper) {
      throw new ConfigError('SERVICE_DATABASE_URL must name another role than DATABASE_URL, and no superuser');
    }
    if (!state?.exists && password === '') {
      throw new ConfigError(`the role ${name} of SERVICE_DATABASE_URL does not exist: give a password to create it`);
    }
    const role = client.escapeIdentifier(name);
    const database = client.escapeIdentifier(client.database ?? '');
    const tables = client.escapeIdentifier(schema);
    const secret = client.escapeLiteral(decodeURIComponent(password));
    await client.query(`
      begin;
      ${boundWait};
      ${lockRole};
      ${state?.exists ? '' : `create role ${role} login;`}
      ${password === '' ? '' : `alter role ${role} login password ${secret};`}
      revoke create on schema ${tables} from public;
      revoke all on schema ${tables}, bullmq from ${role};
      revoke all on all tables in schema ${tables}, bullmq from ${role};
      grant connect on database ${database} to ${role};
      grant usage on schema ${tables}, bullmq to ${role};
      grant select, insert, update, delete on all tables in schema ${tables}, bullmq to ${role};
      grant usage, select on all sequences in schema ${tables}, bullmq to ${role};
      revoke insert, update, delete on staff_users, schema_migrations, schema_parts, audit_retention, freed_ids from ${role};
      revoke insert, update, delete on bullmq.migration from ${role};
      revoke insert, update, delete on audit_entries from ${role};
      grant insert (${entryColumns}) on audit_entries to ${role};
      grant execute on function sweep_audit_entries to ${role};
      commit`);
    return [`granted to ${name}`, ...(await setRole(client, name, schema))];
  }).catch((error: unknown) => {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(
      `the schema is migrated, but ${name} could not be given its rights: ${connectionErrorMessage(error)}`,
    );
  });
}

/** Resolves with a line if the owner can't set the role: sessions past a pooler don't need it. */
async function setRole(client: pg.Client, name: string, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(
    `select format('alter role %I in database %I set %s = %L', $1::text, current_database(), name, value) as text
     from pg_settings join json_each_text($2) as ours (name, value) using (name)`,
    [name, { ...roleSettings, search_path: schema }],
  );
  return client.query([boundWait, lockRole, ...rows.map(({ text }) => text)].join(';')).then(
    () => [],
    (error) => [
      `${name} could not be given its settings, which it needs behind a pooler: ${connectionErrorMessage(error)}`,
    ],
  );
}
