import { execFile } from 'node:child_process';
import { chown, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../../../shared/config/variables.ts';
import { type Account, chooseAccount, findPrograms, type Programs } from './commands.ts';
import { keepSecret, readSecret } from './data-folder.ts';

const run = promisify(execFile);

/** A cluster, PostgreSQL's term for the files of one server. */
export interface Cluster {
  readonly folder: string;
  readonly programs: Programs;
  /** The password of the superuser `postgres`. */
  readonly password: string;
}

const passwordFile = 'postgres-password';

/** Returns the folder of the cluster in a data folder. */
export const clusterFolder = (dataDir: string) => path.join(dataDir, 'postgres');

/** Returns the password of the cluster in a data folder, or undefined if there is none. */
export const readPassword = (dataDir: string) => readSecret(dataDir, passwordFile);

/** Opens the cluster of a data folder, creating it if it is missing. Throws a `ConfigError` if it can't be used. */
export async function openCluster(dataDir: string, signal: AbortSignal): Promise<Cluster> {
  const folder = clusterFolder(dataDir);
  const account = await chooseAccount(folder);
  const programs = await findPrograms(account, dataDir);
  if ((await stat(folder).catch(() => undefined)) === undefined) {
    const password = await keepSecret(dataDir, passwordFile, 24, 'hex');
    const cluster = { folder, programs, password };
    await initialise(cluster, path.join(dataDir, passwordFile), account, signal);
    return cluster;
  }
  await assertUsable(folder, programs);
  const password = await readPassword(dataDir);
  if (password !== undefined) return { folder, programs, password };
  throw new ConfigError(`DATA_DIR ${dataDir} has a database but no ${passwordFile}: give another, or remove it`);
}

async function assertUsable(folder: string, programs: Programs): Promise<void> {
  const version = await readFile(path.join(folder, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES') throw error;
    throw new ConfigError(`${folder} is no PostgreSQL database: remove it, or give another DATA_DIR`);
  });
  const { file, args, options } = programs('postgres', ['--version']);
  const { stdout } = await run(file, args, options);
  const ours = /\) (\d+)/.exec(stdout)?.[1];
  if (version.trim() === ours) return;
  throw new ConfigError(
    `${folder} was made by PostgreSQL ${version.trim()}, this is ${ours}: remove it, or give another DATA_DIR`,
  );
}

/**
 * Initialises the cluster in a temporary folder and renames it at the end, so that a killed run
 * leaves no partial cluster.
 */
async function initialise(
  { folder, programs }: Cluster,
  pwfile: string,
  account: Account | undefined,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (account !== undefined) await Promise.all([unfinished, pwfile].map((at) => chown(at, account.uid, account.gid)));
  const { file, args, options } = programs('initdb', [
    ...['-D', unfinished],
    ...['--username=postgres', `--pwfile=${pwfile}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
  ]);
  await run(file, args, { ...options, signal }).catch((error: Error & { stderr?: string }) => {
    throw new ConfigError(`initdb failed: ${lastError(error.stderr || error.message)}`);
  });
  await rename(unfinished, folder);
}

/** Returns the line of a PostgreSQL program's output that explains why it gave up. */
export function lastError(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const reason = lines.findLast((line) => /(FATAL|PANIC|ERROR|error|could not)\b/.test(line)) ?? lines.at(-1);
  return reason?.replace(/^.*?(?:FATAL|PANIC|error):\s*/, '').trim() ?? 'it gave no reason';
}
