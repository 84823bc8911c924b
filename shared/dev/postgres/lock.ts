import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import path from 'node:path';
import { ConfigError } from '../../config/variables.ts';
import { toRefusal } from './data-folder.ts';

/** A data folder that no other `npm start` uses until `release`. */
export interface Lock {
  /** Whether the run before this one ended without releasing it. */
  readonly wasAbandoned: boolean;
  release(): Promise<void>;
}

const attempts = 3;
const answerTimeoutMs = 2_000;

/**
 * Takes the data folder for this run; throws a `ConfigError` when a live run has it.
 *
 * The lock is a listener, and its file says how to reach it: the system ends a listener with its
 * process, while a process id in a file could be another process's by now.
 */
export async function lockDataFolder(dataDir: string): Promise<Lock> {
  const file = path.join(dataDir, 'start.lock');
  const token = randomUUID();
  const { server, port } = await listen(token);
  let wasAbandoned = false;
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await create(file, `${port} ${token}`)) {
        return {
          wasAbandoned,
          async release() {
            await rm(file, { force: true });
            server.close();
          },
        };
      }
      if (await isHeld(file)) throw new ConfigError(`DATA_DIR ${dataDir} is in use by another npm start`);
      wasAbandoned = true;
      await rm(file, { force: true });
    }
    throw new ConfigError(`DATA_DIR ${dataDir} is being taken by another npm start`);
  } catch (error) {
    server.close();
    throw toRefusal(error, dataDir);
  }
}

function listen(token: string): Promise<{ server: Server; port: number }> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(token);
    });
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.unref();
      resolve({ server, port: typeof address === 'object' && address !== null ? address.port : 0 });
    });
  });
}

async function create(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isHeld(file: string): Promise<boolean> {
  const [port, token] = (await readFile(file, 'utf8').catch(() => '')).split(' ');
  if (!token || !(Number(port) > 0)) return false;
  return (await ask(Number(port))) === token;
}

function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(answerTimeoutMs, () => socket.destroy());
    socket.on('data', (chunk) => {
      answer += chunk.toString('utf8');
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => resolve(answer));
  });
}
