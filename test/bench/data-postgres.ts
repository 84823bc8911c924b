import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startPostgres } from '../../services/dev/postgres/postgres.ts';
import { runSql, withClient } from './client.ts';
import { childrenTime } from './servers.ts';

/** A PostgreSQL of the benchmark's own, with a server's usual memory. */
export interface BenchPostgres {
  /** Creates a database, empty or as a copy of another, which nobody may be connected to. Gives its URL. */
  createDatabase(name: string, template?: string): Promise<string>;
  /** The processor time of all connections, in microseconds: what it grows by between two readings counts. */
  processorTime(): Promise<number>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** The settings of a server that keeps what it commits. */
export const durableSettings = [
  ...['max_connections=200', 'shared_buffers=1GB', 'maintenance_work_mem=256MB'],
  ...['max_wal_size=8GB', 'effective_cache_size=4GB'],
];

/** Starts it on a free port, by default without fsync. Ctrl-C stops it and ends the process. */
export async function startBenchPostgres(settings = ['fsync=off', ...durableSettings]): Promise<BenchPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'delivery-admin-bench-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  const postgres = await startPostgres(folder, undefined, new AbortController().signal, settings);
  const stop = async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(0)));
  }
  const serverPid = await pidOfServer(postgres.url);
  return {
    async createDatabase(name, template = 'template1') {
      const [created, copied] = [name, template].map(pg.escapeIdentifier);
      await runSql(postgres.url, `create database ${created} template ${copied}`);
      return `${postgres.url.slice(0, postgres.url.lastIndexOf('/'))}/${name}`;
    },
    processorTime: childrenTime(serverPid),
    stop,
  };
}

function pidOfServer(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return Number.parseInt(await readFile(path.join(rows[0]?.data_directory ?? '', 'postmaster.pid'), 'utf8'), 10);
  });
}
