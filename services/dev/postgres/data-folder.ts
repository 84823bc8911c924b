import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../../../shared/config/variables.ts';

const tokenSecret = 'jwt-secret';

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'is a file, or inside of one: give a folder',
  ENOTDIR: 'is a file, or inside of one: give a folder',
  EACCES: 'is not open to this user: give a folder that it may write',
  EPERM: 'is not open to this user: give a folder that it may write',
  EROFS: 'is not open to this user: give a folder that it may write',
  ENOSPC: 'is on a disk that is full',
  EISDIR: 'holds a folder where a file belongs: remove it, or give another',
};

/** Runs `work`, and converts file system errors into a `ConfigError` that names DATA_DIR. */
export async function withDataDirErrors<Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? reasons[String(error.code)] : undefined;
    throw reason === undefined ? error : new ConfigError(`DATA_DIR ${dataDir} ${reason}`);
  }
}

/** Creates the folder if it is missing. Throws a `ConfigError` if it can't be used. */
export function openDataFolder(dataDir: string): Promise<void> {
  return withDataDirErrors(dataDir, async () => {
    const created = await mkdir(dataDir, { recursive: true });
    // When this process is root, PostgreSQL runs as another account, which must reach its files.
    if (created !== undefined) await chmod(dataDir, 0o755);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  });
}

/** Returns the secret with which `npm start` signs and verifies tokens, creating it if it is missing. */
export function keepTokenSecret(dataDir: string): Promise<string> {
  return withDataDirErrors(dataDir, () => keepSecret(dataDir, tokenSecret, 48, 'base64'));
}

/** Returns the secret of `keepTokenSecret`; undefined before the first start. */
export function readTokenSecret(dataDir: string): Promise<string | undefined> {
  return withDataDirErrors(dataDir, () => readSecret(dataDir, tokenSecret));
}

/**
 * Returns the secret in a file of the data folder. If it is missing, creates one of `bytes` random bytes
 * that only the owner may read.
 */
export async function keepSecret(dataDir: string, file: string, bytes: number, encoding: 'hex' | 'base64') {
  const kept = await readSecret(dataDir, file);
  if (kept !== undefined) return kept;
  const created = randomBytes(bytes).toString(encoding);
  await writeFile(path.join(dataDir, file), created, { mode: 0o600 });
  return created;
}

/** Returns the secret in a file of the data folder, or undefined if there is none. */
export async function readSecret(dataDir: string, file: string): Promise<string | undefined> {
  const text = await readFile(path.join(dataDir, file), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  // A run that was killed while writing leaves an empty file.
  return text.trim() || undefined;
}
