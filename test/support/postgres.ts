import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../services/dev/postgres/postgres.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { grantServiceRole } from '../../shared/db/service-role.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's own PostgreSQL server, with a migrated database `template_app`. */
    postgresUrl: string;
  }
}

export const templateDatabase = 'template_app';

const memoryFolder = '/dev/shm';
const roomBytes = 4 * 1024 ** 3;

/** The same URL for the role that has the rights of a service, and no more. */
export function asServiceRole(url: string): string {
  return Object.assign(new URL(url), { username: 'service', password: 'for tests only' }).href;
}

// The data of tests may be lost with the machine, and many tests share the server.
const settings = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'],
  // Connections report what they have read late: only those of test/support/rows-read.ts are to count.
  'track_counts=off',
  'max_connections=400',
];

/** Vitest's global setup: starts a PostgreSQL for this run, on a free port, and removes it afterwards. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(path.join(await chooseParent(), 'delivery-admin-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  const postgres = await startPostgres(folder, undefined, new AbortController().signal, settings);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const url = postgres.url.slice(0, postgres.url.lastIndexOf('/'));
  await migrate(`${url}/${templateDatabase}`);
  await grantServiceRole(`${url}/${templateDatabase}`, asServiceRole(`${url}/${templateDatabase}`));
  project.provide('postgresUrl', url);
  return async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/**
 * A folder in memory, where it has room for the 300 databases of a run. A database is some 300 files: to
 * copy it there takes 15 ms of CPU, and on ext4 56 ms.
 */
async function chooseParent(): Promise<string> {
  const { bavail, bsize } = await statfs(memoryFolder).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= roomBytes ? memoryFolder : tmpdir();
}
