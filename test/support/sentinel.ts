import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { findFreePort } from '../../services/dev/ports.ts';
import { eventually } from './eventually.ts';

/** A Redis with a replica, and a Sentinel that promotes the replica when the master is gone. */
export interface SentinelRedis {
  /** The variables with which a service uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Lets the master go on without its replica, which then lacks what the master does from now on. */
  cutReplication(): Promise<void>;
  killMaster(): Promise<void>;
  /** Waits until Sentinel has promoted the replica. */
  failedOver(): Promise<void>;
  stop(): Promise<void>;
}

const masterName = 'main';

/** @param password of all three servers; empty for none. */
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
  const ask = (what: string) => client.call('sentinel', what, masterName);
  // Sentinel promotes only a replica that it knows.
  await eventually(async () => expect(String(await ask('replicas'))).toContain('status,ok'));
  return {
    env: {
      REDIS_URL: `redis://:${password}@${masterName}`,
      REDIS_SENTINELS: `127.0.0.1:${sentinel}`,
      REDIS_SENTINEL_PASSWORD: password,
    },
    async cutReplication() {
      const connection = new Redis(master, '127.0.0.1', password === '' ? {} : { password });
      await connection.config('SET', 'requirepass', randomUUID());
      await connection.call('client', 'kill', 'type', 'replica');
      connection.disconnect();
    },
    killMaster: () => kill(masterProcess),
    async failedOver() {
      const wanted = `127.0.0.1,${replica}`;
      await eventually(async () => expect(String(await ask('get-master-addr-by-name'))).toBe(wanted));
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
