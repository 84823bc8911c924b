import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { findFreePort } from '../../services/dev/ports.ts';
import { chooseAccount } from '../../services/dev/postgres/commands.ts';
import { eventually } from './eventually.ts';
import { viaPort } from './proxy.ts';

const program = process.env.PGBOUNCER ?? 'pgbouncer';
const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
const [version = '', major = 0, minor = 0] = /(\d+)\.(\d+)\.\d+/.exec(stdout ?? '') ?? [];

/** Why tests of PgBouncer can't run here; undefined when they can. */
export const noPgBouncer = status === 0 ? undefined : 'no pgbouncer at PGBOUNCER or on the PATH';

/** Why tests of a PgBouncer that knows prepared statements in transaction mode can't run here; undefined when they can. */
export const noPreparingPgBouncer =
  noPgBouncer ?? (Number(major) > 1 || Number(minor) >= 21 ? undefined : `PgBouncer is ${version}, older than 1.21`);

export interface PgBouncer {
  /** The same database, through the pooler. */
  readonly url: string;
  /** Has it read its configuration again. */
  reload(): void;
  /** Ends it at once, and starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  readonly mode: 'session' | 'transaction';
  /** The number of its connections to the database. */
  readonly poolSize: number;
  /** The number of prepared statements that it keeps on each of them, in transaction mode; unset: its default. */
  readonly preparedStatements?: number;
}

/** Starts a PgBouncer of a test's own before a database. */
export async function startPgBouncer(
  databaseUrl: string,
  { mode, poolSize, preparedStatements }: PgBouncerOptions,
): Promise<PgBouncer> {
  const target = new URL(databaseUrl);
  const port = await findFreePort();
  const folder = await mkdtemp(path.join(tmpdir(), 'pgbouncer-test-'));
  // It refuses to run as root.
  const account = await chooseAccount(folder);
  await chmod(folder, 0o755);
  await writeFile(path.join(folder, 'users.txt'), `"${target.username}" "${decodeURIComponent(target.password)}"\n`);
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
    // An older one refuses the setting.
    ...(preparedStatements === undefined || noPreparingPgBouncer !== undefined
      ? {}
      : { max_prepared_statements: preparedStatements }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = path.join(folder, 'pgbouncer.ini');
  const databases = `* = host=${target.hostname} port=${target.port}`;
  await writeFile(file, ['[databases]', databases, '[pgbouncer]', ...lines, ''].join('\n'));
  const start = () => {
    const child = spawn(program, [file], { stdio: 'ignore', ...account });
    return { child, exited: once(child, 'exit') };
  };
  let running = start();
  const kill = async () => {
    running.child.kill('SIGKILL');
    await running.exited;
  };
  const url = viaPort(databaseUrl, port);
  await eventually(() => connectOnce(url));
  return {
    url,
    reload: () => void running.child.kill('SIGHUP'),
    async restart() {
      await kill();
      running = start();
      await eventually(() => connectOnce(url));
    },
    async stop() {
      await kill();
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
