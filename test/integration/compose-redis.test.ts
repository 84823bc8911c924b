import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { findFreePort } from '../../services/dev/ports.ts';
import { eventually } from '../support/eventually.ts';
import { noRedisServer } from '../support/redis.ts';

/** Runs the command of Redis in docker-compose.yml, in a folder and on a port of its own. */
async function startRedis(password: string) {
  const file = new URL('../../docker-compose.yml', import.meta.url);
  const { services } = parse(await readFile(file, 'utf8'), { merge: true });
  const [program, ...args]: string[] = services.redis.command.map((word: string) => word.replaceAll('$$', '$'));
  const folder = await mkdtemp(path.join(tmpdir(), 'compose-redis-'));
  const port = await findFreePort();
  // In the place of the image's, which changes the user.
  const entrypoint = `#!/bin/sh\nexec "$@" --port ${port} --bind 127.0.0.1 --dir ${folder}\n`;
  await writeFile(path.join(folder, 'docker-entrypoint.sh'), entrypoint, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, REDISCLI_AUTH: password };
  const child = spawn(program ?? '', args, { env, stdio: 'ignore' });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true });
  });
  return { pid: child.pid, url: `redis://127.0.0.1:${port}` };
}

it.skipIf(noRedisServer)('Redis of docker-compose.yml asks for its password, which no command line shows', async () => {
  const password = 'of-this-test';
  const { pid, url } = await startRedis(password);
  const ask = async (given: object) => {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, enableReadyCheck: false, ...given });
    client.on('error', () => undefined);
    return client.config('GET', 'maxmemory-policy').finally(() => client.disconnect());
  };
  expect(await eventually(() => ask({ password }))).toEqual(['maxmemory-policy', 'noeviction']);
  await expect(ask({})).rejects.toThrow('NOAUTH');
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8');
  expect(commandLine).toMatch(/^redis-server\b/);
  expect(commandLine).not.toContain(password);
});
