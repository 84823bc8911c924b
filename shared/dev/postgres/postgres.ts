import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ConfigError } from '../../config/variables.ts';
import { findFreePort } from '../ports.ts';
import {
  type Account,
  chooseAccount,
  findBinaries,
  lastError,
  majorVersion,
  runBinary,
  startBinary,
} from './commands.ts';
import { keepSecret, toRefusal } from './data-folder.ts';

/** The embedded server of one data folder. */
export interface EmbeddedPostgres {
  readonly url: string;
  /** Resolves with the reason when the server ends by itself. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
  kill(): void;
}

interface Cluster {
  readonly binaries: string;
  readonly account: Account | undefined;
  readonly databaseDir: string;
  readonly passwordFile: string;
  readonly password: string;
  readonly logFile: string;
}

const passwordName = 'postgres-password';
const startTimeoutMs = 120_000;
// How long a server may take to leave its folder.
const leavingMs = 10_000;

/**
 * Starts the embedded PostgreSQL of a locked data folder, initialised at the first start. Throws a
 * `ConfigError` when the folder can't be used.
 *
 * @param settings further server settings, such as `fsync=off`.
 */
export async function startPostgres(
  dataDir: string,
  port: number | undefined,
  signal: AbortSignal,
  settings: readonly string[] = [],
): Promise<EmbeddedPostgres> {
  try {
    const cluster = await openCluster(dataDir, signal);
    await stopLeftover(cluster);
    return await launch(cluster, port ?? (await findFreePort()), signal, settings);
  } catch (error) {
    throw toRefusal(error, dataDir);
  }
}

async function openCluster(dataDir: string, signal: AbortSignal): Promise<Cluster> {
  const binaries = await findBinaries();
  const databaseDir = path.join(dataDir, 'postgres');
  const account = await chooseAccount(databaseDir);
  const found = await stat(databaseDir).catch(() => undefined);
  const passwordFile = path.join(dataDir, passwordName);
  if (found !== undefined) {
    await assertUsable(databaseDir, binaries);
    if ((await stat(passwordFile).catch(() => undefined)) === undefined) {
      throw new ConfigError(`DATA_DIR ${dataDir} has a database but no ${passwordName}: give another, or remove it`);
    }
  }
  const password = await keepSecret(dataDir, passwordName, 24, 'hex');
  if (account !== undefined) await chown(passwordFile, account.uid, account.gid);
  const logFile = path.join(dataDir, 'postgres.log');
  const cluster = { binaries, account, databaseDir, passwordFile, password, logFile };
  if (found === undefined) await initialise(cluster, signal);
  return cluster;
}

async function assertUsable(databaseDir: string, binaries: string): Promise<void> {
  const version = await readFile(path.join(databaseDir, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') throw error;
    throw new ConfigError(`${databaseDir} is no PostgreSQL database: remove it, or give another DATA_DIR`);
  });
  const ours = await majorVersion(binaries);
  if (version.trim() === ours) return;
  throw new ConfigError(
    `${databaseDir} was made by PostgreSQL ${version.trim()}, this is ${ours}: remove it, or give another DATA_DIR`,
  );
}

/** Initialises beside its final place, so that a run that is ended meanwhile leaves nothing half made. */
async function initialise({ binaries, account, databaseDir, passwordFile }: Cluster, signal: AbortSignal) {
  const unfinished = `${databaseDir}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (account !== undefined) await chown(unfinished, account.uid, account.gid);
  const flags = [
    '--username=postgres',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  await runBinary(binaries, 'initdb', ['-D', unfinished, ...flags], account, signal);
  await rename(unfinished, databaseDir);
}

/** The URL of the server that runs on a data folder. Throws a `ConfigError` where none does. */
export async function findRunningDatabase(dataDir: string): Promise<string> {
  const read = (file: string) => readFile(path.join(dataDir, file), 'utf8').catch(() => '');
  const port = Number((await read('postgres/postmaster.pid')).split('\n')[3]);
  const url = urlOf(port, (await read(passwordName)).trim());
  if (port > 0 && (await askForFolder(url)) !== undefined) return url;
  throw new ConfigError('there is no database to ask: set DATABASE_URL, or keep npm start running');
}

/**
 * Stops the server of a run that was killed, or waits while its watcher stops it. It is asked for its
 * folder first, because the process that a stale `postmaster.pid` names could be any other by now.
 */
async function stopLeftover({ binaries, account, databaseDir, password }: Cluster): Promise<void> {
  const deadline = Date.now() + leavingMs;
  do {
    const pidFile = await readFile(path.join(databaseDir, 'postmaster.pid'), 'utf8').catch(() => '');
    const [pid, , , port] = pidFile.split('\n').map(Number);
    if (!pid || !port || !isAlive(pid)) return;
    const served = await askForFolder(urlOf(port, password));
    if (served !== undefined && served === (await realpath(databaseDir))) {
      return runBinary(binaries, 'pg_ctl', ['-D', databaseDir, '-m', 'fast', '-w', 'stop'], account);
    }
    await delay(100);
  } while (Date.now() < deadline);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Has a process watch over this one, which stops the server when this one ends without having done so,
 * however it ends: the pipe between them closes then.
 */
function stopWithParent(server: ChildProcess): void {
  if (server.pid === undefined) return;
  const program = `process.stdin.resume().on('end', () => process.kill(${server.pid}, 'SIGINT'))`;
  const watcher = spawn(process.execPath, ['-e', program], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a watcher the server stays behind when this process is killed, and that is all.
  watcher.on('error', () => undefined);
  server.once('exit', () => watcher.kill());
}

async function launch(
  cluster: Cluster,
  port: number,
  signal: AbortSignal,
  extraSettings: readonly string[],
): Promise<EmbeddedPostgres> {
  const { binaries, account, databaseDir, password, logFile } = cluster;
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'log_timezone=UTC',
    ...extraSettings,
  ];
  const args = ['-D', databaseDir, ...settings.flatMap((setting) => ['-c', setting])];
  const log = await open(logFile, 'w', 0o600);
  const child = await startBinary(binaries, 'postgres', args, account, { stdio: ['ignore', log.fd, log.fd] });
  stopWithParent(child);
  await log.close();
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, killer) => resolve(killer ?? `exit code ${code}`));
  });
  const ended = exited.then(async (how) => `PostgreSQL ended by itself (${how}): ${await readReason(logFile)}`);
  const url = urlOf(port, password);
  const stop = () => stopServer(child, cluster, exited);
  try {
    await untilReady(url, ended, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, ended, stop, kill: () => child.kill('SIGKILL') };
}

async function stopServer(child: ChildProcess, { binaries, account, databaseDir }: Cluster, exited: Promise<string>) {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  await runBinary(binaries, 'pg_ctl', ['-D', databaseDir, '-m', 'fast', '-w', 'stop'], account).catch(() => {
    // It may be so young that it has no pid file yet.
    child.kill('SIGINT');
  });
  await exited;
}

async function untilReady(url: string, ended: Promise<string>, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  let reason: string | undefined;
  void ended.then((text) => {
    reason = text;
  });
  while ((await askForFolder(url)) === undefined) {
    signal.throwIfAborted();
    if (reason !== undefined) throw new ConfigError(reason);
    if (Date.now() > deadline) throw new ConfigError('PostgreSQL was not ready after two minutes');
    await delay(50);
  }
}

/** The data folder of the server at the URL; undefined when none answers with its password. */
async function askForFolder(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000, query_timeout: 3_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ folder: string }>(`select current_setting('data_directory') as folder`);
    return rows[0]?.folder;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function urlOf(port: number, password: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
}

async function readReason(logFile: string): Promise<string> {
  return lastError(await readFile(logFile, 'utf8').catch(() => ''));
}
