import { ConfigError, ConfigErrors, readUrl } from '../config/variables.ts';
import { migrate } from './migrate.ts';
import { grantServiceRole } from './service-role.ts';

const protocols = ['postgres:', 'postgresql:'];

try {
  const { databaseUrl, serviceUrl } = readUrls();
  const applied = await migrate(databaseUrl);
  const lines = applied.length === 0 ? ['nothing to migrate'] : applied.map((name) => `applied ${name}`);
  if (serviceUrl !== undefined) lines.push(`granted to ${await grantServiceRole(databaseUrl, serviceUrl)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
} catch (error) {
  process.stderr.write(`migrate: ${explain(error)}\n`);
  process.exit(1);
}

function readUrls(): { databaseUrl: string; serviceUrl: string | undefined } {
  const errors = new ConfigErrors();
  // Migrations hold a lock of their session, which a pooler may not keep.
  const name = process.env.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  const databaseUrl = readUrl(process.env, name, protocols, errors) ?? '';
  if (!process.env[name]) errors.add('DATABASE_URL is not set: give the URL of the database to migrate');
  const serviceUrl = readUrl(process.env, 'SERVICE_DATABASE_URL', protocols, errors);
  if (serviceUrl !== undefined && !isDecodable(serviceUrl))
    errors.add('SERVICE_DATABASE_URL has a % that is no escape');
  errors.throwIfAny();
  return { databaseUrl, serviceUrl };
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
  // A refused connection over several addresses is an AggregateError without a message of its own.
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const text = inner instanceof Error ? inner.message : String(inner);
  return `the database at DATABASE_URL could not be migrated: ${text.split('\n', 1)[0]}`;
}
