import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ConfigError } from '../../../shared/config/variables.ts';
import { findFreePort } from '../ports.ts';
import { type Cluster, clusterFolder, lastError, openCluster, readPassword } from './cluster.ts';
import { withDataDirErrors } from './data-folder.ts';

/** The embedded server of one data folder. */
export interface EmbeddedPostgres {
  readonly url: string;
  /** Resolves with the reason when the server ends, even after a stop. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
  kill(): void;
}

/** A server that runs on a data folder. */
interface RunningServer {
  readonly pid: number;
  readonly url: string;
  /** `abandoned`: the run that started it was killed. `busy`: it is starting or stopping. */
  readonly state: 'in use' | 'abandoned' | 'busy';
}

// Each run keeps a connection with this name open to its server, as a sign to other runs.
const runName = 'npm start';
const startTimeoutMs = 120_000;
const stopTimeoutMs = 10_000;
// A server that has just started has no connection yet, and an abandoned one may be about to stop by itself.
const graceMs = 1_000;

/**
 * Waits until no server runs on a data folder, and stops one that a killed run left behind. Throws a
 * `ConfigError` if another run uses the folder. Gives up after 10 s: PostgreSQL itself then refuses the folder.
 */
export async function untilUnused(dataDir: string): Promise<void> {
  const startedAt = Date.now();
  while (Date.now() - startedAt < stopTimeoutMs) {
    const server = await findServer(dataDir);
    if (server === undefined) return;
    if (server.state === 'in use') throw new ConfigError(inUse(dataDir));
    if (server.state === 'abandoned' && Date.now() - startedAt > graceMs) process.kill(server.pid, 'SIGINT');
    await delay(100);
  }
}

/** Returns the URL of the server that runs on a data folder. Throws a `ConfigError` if there is none. */
export async function findRunningDatabase(dataDir: string): Promise<string> {
  const server = await findServer(dataDir);
  if (server !== undefined && server.state !== 'busy') return server.url;
  throw new ConfigError('there is no database to ask: set DATABASE_URL, or keep npm start running');
}

/**
 * Starts the embedded PostgreSQL of a data folder, which is initialised at the first start. Throws a
 * `ConfigError` if the folder can't be used.
 *
 * @param port undefined for any free port.
 * @param settings further server settings, such as `fsync=off`.
 */
export function startPostgres(
  dataDir: string,
  port: number | undefined,
  signal: AbortSignal,
  settings: readonly string[] = [],
): Promise<EmbeddedPostgres> {
  return withDataDirErrors(dataDir, async () => {
    const cluster = await openCluster(dataDir, signal);
    return launch(cluster, dataDir, port ?? (await findFreePort()), signal, settings);
  });
}

async function launch(
  { folder, programs, password }: Cluster,
  dataDir: string,
  port: number,
  signal: AbortSignal,
  extraSettings: readonly string[],
): Promise<EmbeddedPostgres> {
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'log_timezone=UTC',
    ...extraSettings,
  ];
  const logFile = path.join(dataDir, 'postgres.log');
  const log = await open(logFile, 'w', 0o600);
  const { file, args, options } = programs('postgres', ['-D', folder, ...settings.flatMap((text) => ['-c', text])]);
  // Runs in its own process group, out of reach of a terminal's Ctrl-C, so that the services stop first.
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, killer) => resolve(killer ?? `exit code ${code}`));
  });
  if (child.pid !== undefined) stopWithThisProcess(child.pid, exited);
  const ended = exited.then(async (how) => {
    const reason = lastError(await readFile(logFile, 'utf8').catch(() => ''));
    if (reason.includes('"postmaster.pid" already exists')) return inUse(dataDir);
    return `PostgreSQL ended by itself (${how}): ${reason}`;
  });
  const stop = async () => {
    child.kill('SIGINT');
    await exited;
  };
  const url = urlOf(port, password);
  try {
    await connectWhenReady(url, ended, signal);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, ended, stop, kill: () => child.kill('SIGKILL') };
}

/**
 * Starts a watcher process that stops the server after this process ends, for whatever reason: the pipe
 * between them closes then.
 */
function stopWithThisProcess(server: number, exited: Promise<unknown>): void {
  const program = `process.stdin.resume().on('end', () => process.kill(${server}, 'SIGINT'))`;
  const watcher = spawn(process.execPath, ['-e', program], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a watcher, the next run stops a server that is left behind.
  watcher.on('error', () => undefined);
  void exited.then(() => watcher.kill());
}

/** Connects once the server is ready. The connection stays open as a sign that this run uses the server. */
async function connectWhenReady(url: string, ended: Promise<string>, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  let endReason: string | undefined;
  void ended.then((reason) => {
    endReason = reason;
  });
  while ((await connect(url, runName).catch(() => undefined)) === undefined) {
    signal.throwIfAborted();
    if (endReason !== undefined) throw new ConfigError(endReason);
    if (Date.now() > deadline) throw new ConfigError('PostgreSQL was not ready after two minutes');
    await delay(50);
  }
}

/** Finds the running server of a data folder. Its port is in `postmaster.pid`, and its password in the folder. */
async function findServer(dataDir: string): Promise<RunningServer | undefined> {
  const file = await readFile(path.join(clusterFolder(dataDir), 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port] = file.split('\n').map(Number);
  if (!pid || !port) return undefined;
  const password = await readPassword(dataDir).catch(() => undefined);
  const url = urlOf(port, password ?? '');
  try {
    const client = await connect(url, 'search');
    const question = 'select from pg_stat_activity where application_name = $1';
    const { rowCount } = await client.query(question, [runName]).finally(() => client.end());
    return { pid, url, state: rowCount === 0 ? 'abandoned' : 'in use' };
  } catch (error) {
    return error instanceof pg.DatabaseError ? { pid, url, state: 'busy' } : undefined;
  }
}

async function connect(url: string, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 3_000,
    query_timeout: 3_000,
  });
  // The server ends the connection when it stops.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

function urlOf(port: number, password: string): string {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
}

const inUse = (dataDir: string) => `DATA_DIR ${dataDir} is in use by another npm start`;
