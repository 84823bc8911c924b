import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { findFreePort } from '../../services/dev/ports.ts';
import type { Account } from '../../services/dev/postgres/commands.ts';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

const versionsFolder = '/usr/lib/postgresql';

/** The programs of the newest PostgreSQL that Debian's packages have installed; undefined if there is none. */
export const programFolder = findProgramFolder();

function findProgramFolder(): string | undefined {
  if (!existsSync(versionsFolder)) return undefined;
  const folders = readdirSync(versionsFolder).map((version) => path.join(versionsFolder, version, 'bin'));
  folders.sort((left, right) => left.localeCompare(right, 'en', { numeric: true }));
  return folders.findLast((folder) => existsSync(path.join(folder, 'pg_rewind')));
}

const password = 'for tests only';

// The data of tests may be lost with the machine. A server that was killed is taken back by pg_rewind, which needs
// wal_log_hints and the log since the other one was promoted.
const settings = [
  ...['fsync=off', 'wal_log_hints=on', 'wal_keep_size=512MB', 'max_connections=200', 'shared_buffers=64MB'],
  ...[`listen_addresses='127.0.0.1'`, `unix_socket_directories=''`],
];

// HAProxy asks as a role without a password and without rights.
const hostAuthentication = [
  'host postgres haproxy 127.0.0.1/32 trust',
  'host replication postgres 127.0.0.1/32 scram-sha-256',
  'host all all 127.0.0.1/32 scram-sha-256',
];

/** A server of Debian's PostgreSQL, which may be the primary or a standby. */
export class PostgresServer {
  readonly name: string;
  readonly port: number;
  /** Of its data. */
  readonly folder: string;
  readonly account: Account | undefined;
  #child: ChildProcess | undefined;

  private constructor(parent: string, name: string, port: number, account: Account | undefined) {
    this.name = name;
    this.port = port;
    this.folder = path.join(parent, name);
    this.account = account;
  }

  /** Starts a new primary. The server runs as `account`, because it refuses to run as root. */
  static async create(
    parent: string,
    name: string,
    account: Account | undefined,
    furtherSettings: readonly string[] = [],
  ): Promise<PostgresServer> {
    const server = await PostgresServer.#open(parent, name, account);
    const passwordFile = path.join(parent, 'password');
    await writeFile(passwordFile, password);
    const access = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
    await server.#run('initdb', ['-D', server.folder, ...access, '--locale=C.UTF-8', '--encoding=UTF8', '--no-sync']);
    await appendFile(path.join(server.folder, 'postgresql.conf'), `${[...settings, ...furtherSettings].join('\n')}\n`);
    await writeFile(path.join(server.folder, 'pg_hba.conf'), `${hostAuthentication.join('\n')}\n`);
    await server.start();
    await server.sql('create role haproxy login');
    return server;
  }

  /** Starts a new standby of this server. */
  async addStandby(parent: string, name: string): Promise<PostgresServer> {
    const standby = await PostgresServer.#open(parent, name, this.account);
    const options = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
    await standby.#run('pg_basebackup', ['-D', standby.folder, '-d', this.url, ...options]);
    await standby.start();
    return standby;
  }

  static async #open(parent: string, name: string, account: Account | undefined): Promise<PostgresServer> {
    const server = new PostgresServer(parent, name, await findFreePort(), account);
    await mkdir(server.folder, { mode: 0o700 });
    if (account !== undefined) await chown(server.folder, account.uid, account.gid);
    return server;
  }

  get url(): string {
    return `postgresql://postgres:${encodeURIComponent(password)}@127.0.0.1:${this.port}/postgres`;
  }

  /** Runs a statement on a connection of its own. */
  sql<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    return queryOnce(this.url, text);
  }

  /** Stops all its processes from running, with their connections open, as a machine that hangs. */
  async freeze(): Promise<void> {
    // First the one that starts others.
    this.#child?.kill('SIGSTOP');
    for (const pid of await this.#backends()) process.kill(pid, 'SIGSTOP');
  }

  /** Ends all its processes at once, as a machine that dies. */
  async kill(): Promise<void> {
    await this.freeze();
    const backends = await this.#backends();
    const ended = this.#ended();
    for (const pid of backends) process.kill(pid, 'SIGKILL');
    this.#child?.kill('SIGKILL');
    await ended;
  }

  /** Stops it in order: it ends its connections, once its standby has all that was committed. */
  async stop(): Promise<void> {
    const ended = this.#ended();
    this.#child?.kill('SIGINT');
    await ended;
  }

  /** Makes a primary of a standby. It has no standby of its own yet, so that its commits must not wait for one. */
  async promote(): Promise<void> {
    await this.waitFor('');
    await this.sql('select pg_promote()');
  }

  /** Makes commits wait for these standbys, as `synchronous_standby_names` has them; empty for none. */
  async waitFor(standbys: string): Promise<void> {
    await this.sql(`alter system set synchronous_standby_names = '${standbys}'`);
    await this.sql('select pg_reload_conf()');
  }

  /** Starts a server that was the primary as a standby of another one, without what it alone has. */
  async follow(primary: PostgresServer): Promise<void> {
    // pg_rewind reads the primary's timeline from its last checkpoint.
    await primary.sql('checkpoint');
    const options = ['--write-recovery-conf', '--no-sync'];
    await this.#run('pg_rewind', ['-D', this.folder, `--source-server=${primary.url}`, ...options]);
    await this.start();
  }

  /** Starts it as what it was when it ended, on the same port. */
  async start(): Promise<void> {
    const args = ['-D', this.folder, '-c', `port=${this.port}`, '-c', `cluster_name=${this.name}`];
    const command = [path.join(programFolder ?? '', 'postgres'), ...args];
    // It stops with this process, however that ends.
    this.#child = spawn('setpriv', ['--pdeathsig', 'INT', ...command], { cwd: '/', stdio: 'ignore', ...this.account });
    const ended = this.#ended().then(() => Promise.reject(new Error(`PostgreSQL ${this.name} has ended`)));
    ended.catch(() => undefined);
    await Promise.race([eventually(() => this.sql('select')), ended]);
  }

  async #run(program: string, args: string[]): Promise<void> {
    await run(path.join(programFolder ?? '', program), args, { cwd: '/', ...this.account });
  }

  async #ended(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async #backends(): Promise<number[]> {
    const pid = this.#child?.pid;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    return children.split(' ').filter(Boolean).map(Number);
  }
}

/** Runs a statement on a connection of its own. */
export async function queryOnce<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}
