import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { openJobBackend } from '../../shared/jobs/backend.ts';
import { SingletonJob } from '../../shared/jobs/singleton-job.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase } from '../support/database.ts';
import { noRedisServer, RedisServer } from '../support/redis.ts';

const sweepEveryMs = 900;
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Starts a job that counts its runs, on PostgreSQL unless there is a URL of Redis. */
async function startJob(databaseUrl: string, redisUrl?: string, counts = { runs: 0 }) {
  const logger = createLogger('test', 'silent');
  const options = {
    redisUrl,
    redisSentinels: [],
    redisSentinelPassword: undefined,
    databaseUrl,
    applicationName: 'test',
  };
  const backend = openJobBackend({ ...options, logger });
  const job = new SingletonJob({
    name: 'swept',
    delayMs: 0,
    sweepEveryMs,
    backend,
    logger,
    tracing: undefined,
    async run() {
      counts.runs += 1;
    },
  });
  closers.push(
    () => backend.close(),
    () => job.close(5_000),
  );
  await job.start();
  return counts;
}

/** Resolves when sweeps have run the job several times more. */
async function untilSwept(counts: { runs: number }): Promise<void> {
  const before = counts.runs;
  await expect.poll(() => counts.runs - before).toBeGreaterThan(3);
}

async function startRedis() {
  const server = await RedisServer.start();
  const admin = new Redis(server.url);
  closers.push(
    () => server.stop(),
    () => admin.quit(),
  );
  return { url: server.url, admin };
}

describe.skipIf(noRedisServer)('Jobs in Redis', () => {
  it('The sweep of a job in Redis begins once Redis has memory, which it lacked at the start', async () => {
    const { url, admin } = await startRedis();
    await admin.config('SET', 'maxmemory', '1');
    const counts = await startJob('postgres://localhost/unused', url);
    await expect.poll(() => admin.info('errorstats')).toContain('errorstat_OOM');
    expect(counts.runs).toBe(0);
    await admin.config('SET', 'maxmemory', '0');
    await untilSwept(counts);
  });

  it('The sweep of a job in Redis comes back after all data was deleted while it was connected', async () => {
    const { url, admin } = await startRedis();
    const counts = await startJob('postgres://localhost/unused', url);
    await untilSwept(counts);
    await admin.flushall();
    await untilSwept(counts);
  });
});

it('The sweep of a job in PostgreSQL comes back after the row of its scheduler was deleted, and after its jobs were', async () => {
  const database = await createDatabase();
  closers.push(() => database.close());
  const counts = await startJob(database.url);
  await untilSwept(counts);
  await database.sql('delete from bullmq.scheduler');
  await untilSwept(counts);
  await database.sql('truncate bullmq.job, bullmq.dedup, bullmq.dedup_next, bullmq.scheduler cascade');
  await untilSwept(counts);
  await database.sql('delete from bullmq.job');
  await untilSwept(counts);
});

it('The sweep of a job keeps its interval when several processes schedule it', async () => {
  const database = await createDatabase();
  closers.push(() => database.close());
  const counts = await startJob(database.url);
  await Promise.all([1, 2].map(() => startJob(database.url, undefined, counts)));
  await untilSwept(counts);
});
