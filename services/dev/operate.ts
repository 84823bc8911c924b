import { ConfigError } from '../../shared/config/variables.ts';
import { findRunningDatabase } from './postgres/postgres.ts';
import { readDataDir } from './settings.ts';

// `npm run staff` and `npm run import`: use the database of a running `npm start` unless `DATABASE_URL` is set.
const programs = new Map([
  ['staff', () => import('../../shared/auth/staff-main.ts')],
  ['import', () => import('../slot-service/import-command/import-main.ts')],
]);

const [name = ''] = process.argv.splice(2, 1);
try {
  process.env.DATABASE_URL ||= await findRunningDatabase(readDataDir(process.env));
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${name}: ${error.message}\n`);
  process.exit(1);
}
await programs.get(name)?.();
