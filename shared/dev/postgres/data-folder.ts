import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError } from '../../config/variables.ts';

const secretFile = 'jwt-secret';
const ownerOnly = 0o600;
// The embedded server of a run as root belongs to another account, which must reach its own folder.
const reachable = 0o755;

/** Makes the folder when it is missing. Throws a `ConfigError` when it can't be used. */
export async function openDataFolder(dataDir: string): Promise<void> {
  try {
    const made = await mkdir(dataDir, { recursive: true });
    if (made !== undefined) await chmod(dataDir, reachable);
    if (!(await stat(dataDir)).isDirectory()) throw new ConfigError(`DATA_DIR ${dataDir} is a file, not a folder`);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw toRefusal(error, dataDir);
  }
}

/** The text of a file of the data folder that only its owner may read, made at the first use. */
export async function keepSecret(dataDir: string, file: string, bytes: number, encoding: 'hex' | 'base64') {
  try {
    const kept = await readSecret(dataDir, file);
    if (kept !== undefined) return kept;
    const made = randomBytes(bytes).toString(encoding);
    await writeFile(path.join(dataDir, file), made, { mode: ownerOnly, flag: 'w' });
    return made;
  } catch (error) {
    throw toRefusal(error, dataDir);
  }
}

/** The secret that `npm start` signs and verifies tokens with, made at the first start. */
export function keepTokenSecret(dataDir: string): Promise<string> {
  return keepSecret(dataDir, secretFile, 48, 'base64');
}

/** The same secret, or undefined before the first start. */
export async function readTokenSecret(dataDir: string): Promise<string | undefined> {
  try {
    return await readSecret(dataDir, secretFile);
  } catch (error) {
    throw toRefusal(error, dataDir);
  }
}

/** One line of why the data folder can't be used. */
export function toRefusal(error: unknown, dataDir: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return new ConfigError(`DATA_DIR ${dataDir} is a file, or inside of one: give a folder`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ConfigError(`DATA_DIR ${dataDir} is not open to this user: give a folder that it may write`);
    case 'ENOSPC':
      return new ConfigError(`DATA_DIR ${dataDir} is on a disk that is full`);
    case 'EISDIR':
      return new ConfigError(`DATA_DIR ${dataDir} holds a folder where a file belongs: remove it, or give another`);
    default:
      return error;
  }
}

async function readSecret(dataDir: string, file: string): Promise<string | undefined> {
  const text = await readFile(path.join(dataDir, file), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  // A run that was killed while it wrote leaves an empty file: the same as none.
  return text.trim() || undefined;
}
