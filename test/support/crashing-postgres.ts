import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { startPostgres } from '../../services/dev/postgres/postgres.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { fixture } from './service.ts';

/**
 * A migrated PostgreSQL with the small fixture, which can be stopped as by `pg_ctl stop -m immediate`, which is a crash, and
 * started again. It ends with the test.
 */
export async function startCrashingPostgres() {
  const folder = await mkdtemp(path.join(tmpdir(), 'chaos-test-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  const port = await findFreePort();
  const start = () => startPostgres(folder, port, new AbortController().signal, ['fsync=off', 'max_connections=200']);
  let server = await start();
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const { url } = server;
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  onTestFinished(() => pool.end());
  await migrate(url);
  await pool.query(fixture);
  return {
    url,
    async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, [...values])).rows;
    },
    async crash(): Promise<void> {
      const { rows } = await pool.query<{ data_directory: string }>('show data_directory');
      const pidFile = await readFile(path.join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8');
      process.kill(Number.parseInt(pidFile, 10), 'SIGQUIT');
      await server.ended;
      server = await start();
    },
  };
}
