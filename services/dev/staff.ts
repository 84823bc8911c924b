import { ConfigError } from '../../shared/config/variables.ts';
import { findRunningDatabase } from './postgres/postgres.ts';
import { readDataDir } from './settings.ts';

/** `npm run staff`: uses the database of a running `npm start` unless `DATABASE_URL` is set. */
try {
  process.env.DATABASE_URL ||= await findRunningDatabase(readDataDir(process.env));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`staff: ${error.message}\n`);
  process.exit(1);
}
await import('../../shared/auth/staff-main.ts');
