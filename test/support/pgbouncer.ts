import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../shared/dev/ports.ts';
import { chooseAccount } from '../../shared/dev/postgres/commands.ts';
import { eventually } from './eventually.ts';
import { viaPort } from './proxy.ts';

/** Why tests of PgBouncer can't run here; undefined when they can. */
export const noPgBouncer = spawnSync('pgbouncer', ['--version']).status === 0 ? undefined : 'no pgbouncer on the PATH';

export interface PgBouncer {
  /** The same database, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  readonly mode: 'session' | 'transaction';
  /** The number of its connections to the database. */
  readonly poolSize: number;
}

/** Starts a PgBouncer of a test's own before a database. */
export async function startPgBouncer(databaseUrl: string, { mode, poolSize }: PgBouncerOptions): Promise<PgBouncer> {
  const target = new URL(databaseUrl);
  const port = await findFreePort();
  const folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-test-'));
  // It refuses to run as root.
  const account = await chooseAccount(folder);
  await chmod(folder, 0o755);
  await writeFile(path.join(folder, 'users.txt'), `"${target.username}" "${target.password}"\n`);
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'plain',
    auth_file: path.join(folder, 'users.txt'),
    pool_mode: mode,
    default_pool_size: poolSize,
    max_client_conn: 200,
    // pg sends these with each connection; behind a pooler, the timeouts have to be set on the role.
    ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = path.join(folder, 'pgbouncer.ini');
  const databases = `* = host=${target.hostname} port=${target.port}`;
  await writeFile(file, ['[databases]', databases, '[pgbouncer]', ...lines, ''].join('\n'));
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...account });
  const exited = once(child, 'exit');
  const url = viaPort(databaseUrl, port);
  await eventually(() => connectOnce(url));
  return {
    url,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function connectOnce(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } finally {
    await client.end();
  }
}
