import pg from 'pg';
import { ConfigError } from '../config/variables.ts';

/**
 * Gives the role that services connect as its rights: it reads and writes rows, but neither the staff
 * users nor the list of migrations, owns nothing, and can't change the schema.
 *
 * @param databaseUrl of the role that owns the schema.
 * @param serviceUrl of the services. Its role is created when it is missing, and has the URL's password
 * from now on; without a password it has to be there already.
 * @returns the name of the role. Throws a `ConfigError` where both URLs name the same role.
 */
export async function grantServiceRole(databaseUrl: string, serviceUrl: string): Promise<string> {
  const [owner, { username, password }] = [new URL(databaseUrl), new URL(serviceUrl)];
  const name = decodeURIComponent(username);
  if (name === '' || username === owner.username) {
    throw new ConfigError('SERVICE_DATABASE_URL must name another role than DATABASE_URL, which owns the schema');
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const role = client.escapeIdentifier(name);
    const database = client.escapeIdentifier(client.database ?? '');
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [name]);
    if (rowCount === 0) await client.query(`create role ${role} login`);
    if (password !== '') {
      await client.query(`alter role ${role} login password ${client.escapeLiteral(decodeURIComponent(password))}`);
    }
    await client.query(`
      begin;
      revoke create on schema public from public;
      grant connect on database ${database} to ${role};
      grant usage on schema public, bullmq to ${role};
      grant select, insert, update, delete on all tables in schema public, bullmq to ${role};
      grant usage, select on all sequences in schema public, bullmq to ${role};
      revoke insert, update, delete on staff_users, schema_migrations from ${role};
      commit`);
  } finally {
    await client.end();
  }
  return name;
}
