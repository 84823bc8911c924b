import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { findFreePort } from '../../shared/dev/ports.ts';

/** A Redis with a replica, and a Sentinel that makes it the master when the first one is gone. */
export interface SentinelRedis {
  /** The variables of a service that uses it. */
  readonly env: Readonly<Record<string, string>>;
  killMaster(): Promise<void>;
  /** Waits until Sentinel has made the replica the master. */
  failedOver(): Promise<void>;
  stop(): Promise<void>;
}

const masterName = 'main';

/** @param password of all of them; empty for none */
export async function startSentinelRedis(password: string): Promise<SentinelRedis> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sentinel-test-'));
  const [master, replica, sentinel] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const secured = password === '' ? [] : ['--requirepass', password, '--masterauth', password];
  const masterProcess = await startServer(folder, master, ...secured);
  const replicaProcess = await startServer(folder, replica, ...secured, '--replicaof', '127.0.0.1', String(master));
  const file = path.join(folder, 'sentinel.conf');
  const settings = [
    `port ${sentinel}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${master} 1`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
    ...(password === '' ? [] : [`requirepass ${password}`, `sentinel auth-pass ${masterName} ${password}`]),
  ];
  await writeFile(file, `${settings.join('\n')}\n`);
  const sentinelProcess = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const client = new Redis(sentinel, '127.0.0.1', password === '' ? {} : { password });
  client.on('error', () => undefined);
  // It can't make a master of a replica that it has not heard of.
  await until(async () => String(await client.call('sentinel', 'replicas', masterName)).includes('status,ok'));
  return {
    env: {
      REDIS_URL: `redis://:${password}@${masterName}`,
      REDIS_SENTINELS: `127.0.0.1:${sentinel}`,
      REDIS_SENTINEL_PASSWORD: password,
    },
    killMaster: () => kill(masterProcess),
    async failedOver() {
      const wanted = `127.0.0.1,${replica}`;
      await until(async () => String(await client.call('sentinel', 'get-master-addr-by-name', masterName)) === wanted);
    },
    async stop() {
      client.disconnect();
      await Promise.all([sentinelProcess, replicaProcess, masterProcess].map(kill));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(folder: string, port: number, ...more: string[]): Promise<ChildProcess> {
  const data = path.join(folder, String(port));
  await mkdir(data);
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', data, '--save', '', ...more];
  return spawn('redis-server', settings, { stdio: 'ignore' });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 1; !(await isSo().catch(() => false)); attempt += 1) {
    if (attempt === 400) throw new Error('Sentinel did not do what was waited for');
    await pause(50);
  }
}
