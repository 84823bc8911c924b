import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { findFreePort } from '../../services/dev/ports.ts';
import { eventually } from './eventually.ts';

const hasServer = spawnSync('redis-server', ['--version']).status === 0;
const givenUrl = process.env.REDIS_URL;
let opened = 0;

/** Why tests that stop Redis can't run here; undefined when they can. */
export const noRedisServer = hasServer ? undefined : 'no redis-server on the PATH';

/** Why tests on Redis can't run here; undefined when they can. */
export const noRedis = hasServer || givenUrl ? undefined : 'no REDIS_URL and no redis-server on the PATH';

/** A Redis to test on: a server of the test's own where one can be started, else the one at REDIS_URL. */
export async function openRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (hasServer) return RedisServer.start();
  if (!givenUrl) throw new Error(noRedis);
  // A Redis has 16 databases: tests that run at the same time take one each.
  const url = new URL(givenUrl);
  url.pathname = `/${(Number(process.env.VITEST_POOL_ID ?? '1') * 5 + (opened % 5)) % 16}`;
  opened += 1;
  return { url: url.href, stop: async () => undefined };
}

/** A redis-server of a test's own, which keeps its data when it is killed and started again. */
export class RedisServer {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #child: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await mkdtemp(path.join(tmpdir(), 'redis-test-')), await findFreePort());
    await server.resume();
    return server;
  }

  /** Ends it at once; every write that it acknowledged is on disk. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  /** Stops it from answering, with its connections open. */
  hang(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** Ends `hang`. */
  wake(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Starts it again on the same port, with its data. */
  async resume(): Promise<void> {
    const data = path.join(this.#folder, 'data');
    await mkdir(data, { recursive: true });
    const settings = ['--port', String(this.#port), '--bind', '127.0.0.1', '--dir', data, '--save', ''];
    this.#child = spawn('redis-server', [...settings, '--appendonly', 'yes', '--appendfsync', 'always'], {
      stdio: 'ignore',
    });
    await eventually(() => ping(this.url));
  }

  /** Starts it again on the same port, without any data. */
  async resumeEmpty(): Promise<void> {
    await rm(path.join(this.#folder, 'data'), { recursive: true, force: true });
    await this.resume();
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function ping(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
  } finally {
    client.disconnect();
  }
}
