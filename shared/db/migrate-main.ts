import { readAuditRetentionDays } from '../config/config.ts';
import { readSchema } from '../config/database.ts';
import { ConfigError, ConfigErrors, readPostgresUrl } from '../config/variables.ts';
import { findDoubledRows } from './doubled-rows.ts';
import { connectionErrorMessage } from './errors.ts';
import { migrate } from './migrate.ts';
import { readOwnerUrl } from './owner.ts';
import { grantServiceRole } from './service-role.ts';

try {
  const { databaseUrl, schema, serviceUrl, retentionDays } = readVariables();
  const applied = await migrate(databaseUrl, schema, retentionDays ?? null);
  const lines = applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `applied ${name}`);
  if (serviceUrl !== undefined) lines.push(...(await grantServiceRole(databaseUrl, serviceUrl, schema)));
  lines.push(...(await findDoubledRows(databaseUrl, schema)));
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`migrate: ${explain(error)}\n`);
  process.exit(1);
}

function readVariables() {
  const errors = new ConfigErrors();
  const databaseUrl = readOwnerUrl(process.env, errors);
  const serviceUrl = readPostgresUrl(process.env, 'SERVICE_DATABASE_URL', errors);
  if (serviceUrl !== undefined && !isDecodable(serviceUrl)) {
    errors.add('SERVICE_DATABASE_URL has a % that is no escape');
  }
  const schema = readSchema(process.env, errors);
  const retentionDays = readAuditRetentionDays(process.env, errors);
  errors.throwIfAny();
  return { databaseUrl, schema, serviceUrl, retentionDays };
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const [line] = connectionErrorMessage(error).split('\n', 1);
  return `the database at DATABASE_URL could not be migrated: ${line}`;
}
