import { ConfigError, Refusals, readUrl } from '../config/variables.ts';
import { migrate } from './migrate.ts';

try {
  const applied = await migrate(readDatabaseUrl());
  process.stdout.write(applied.length === 0 ? 'nothing to migrate\n' : `${applied.map(describe).join('\n')}\n`);
} catch (error) {
  process.stderr.write(`migrate: ${explain(error)}\n`);
  process.exit(1);
}

function readDatabaseUrl(): string {
  const refusals = new Refusals();
  // Migrations hold a lock of their session, which a pooler may not keep.
  const name = process.env.DATABASE_DIRECT_URL ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  const url = readUrl(process.env, name, ['postgres:', 'postgresql:'], refusals);
  if (!process.env[name]) refusals.add('DATABASE_URL is not set: give the URL of the database to migrate');
  refusals.throwIfAny();
  return url ?? '';
}

function describe(name: string): string {
  return `applied ${name}`;
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  // A refused connection over several addresses is an AggregateError without a message of its own.
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const text = inner instanceof Error ? inner.message : String(inner);
  return `the database at DATABASE_URL could not be migrated: ${text.split('\n', 1)[0]}`;
}
