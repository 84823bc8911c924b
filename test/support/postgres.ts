import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '../../services/dev/postgres/postgres.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { grantServiceRole } from '../../shared/db/service-role.ts';
import { queryOnce } from './postgres-server.ts';
import { startRelay } from './relay.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's own PostgreSQL server, with a migrated database `template_app`. */
    postgresUrl: string;
    /** How `create database` copies a template by its files. */
    copyByFiles: string;
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
  ...['fsync=off', 'full_page_writes=off', 'autovacuum=off'],
  // Connections report what they have read late: only those of test/support/rows-read.ts are to count.
  'track_counts=off',
];

/**
 * Vitest's global setup: prepares the PostgreSQL at TEST_DATABASE_URL, as its superuser, or starts one for this run, on a
 * free port, and removes it afterwards.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { TEST_DATABASE_URL: given } = process.env;
  const { url: database, stop } = given ? await prepareServer(given) : await startServer();
  const url = database.slice(0, database.lastIndexOf('/'));
  const template = `${url}/${templateDatabase}`;
  await migrate(template);
  await grantServiceRole(template, asServiceRole(template));
  project.provide('postgresUrl', url);
  const [row] = await queryOnce<{ version: number }>(
    template,
    `select current_setting('server_version_num')::integer as version`,
  );
  // From 15 on, PostgreSQL copies by way of its log, which takes four times the CPU, unless told otherwise.
  project.provide('copyByFiles', (row?.version ?? 0) < 150_000 ? '' : 'strategy file_copy');
  return stop;
}

interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The server keeps the settings, and the databases of the run. */
async function prepareServer(url: string): Promise<TestServer> {
  const statements = [
    ...settings.map((setting) => `alter system set ${setting}`),
    'select pg_reload_conf()',
    `drop database if exists ${templateDatabase}`,
    `create database ${templateDatabase}`,
  ];
  for (const statement of statements) await queryOnce(url, statement);
  // Proxies and poolers of the tests look for it on this machine.
  const { hostname, port } = new URL(url);
  if (hostname === '127.0.0.1') return { url, stop: async () => undefined };
  const relay = await startRelay(Number(port), undefined, hostname);
  return { url: Object.assign(new URL(url), { host: `127.0.0.1:${relay.port}` }).href, stop: () => relay.cut() };
}

async function startServer(): Promise<TestServer> {
  const folder = await mkdtemp(path.join(await chooseParent(), 'delivery-admin-'));
  // The server runs as another user when this process is root.
  await chmod(folder, 0o755);
  const postgres = await startPostgres(folder, undefined, new AbortController().signal, [
    ...settings,
    'max_connections=1000',
  ]);
  await queryOnce(postgres.url, `create database ${templateDatabase}`);
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
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
