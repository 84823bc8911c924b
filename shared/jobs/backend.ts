import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Job,
  type Queue,
  type Worker,
  withBackend,
} from 'bullmq';

import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import { inSession, settleSession } from '../config/session.ts';
import type { HostPort } from '../config/variables.ts';
import { heartbeatEveryMs, PacedClient } from '../db/pool/paced-client.ts';
import { createBullmqPool } from '../internals/bullmq.ts';
import type { Metrics } from '../telemetry/metrics.ts';

interface EmitsErrors {
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** The parts of BullMQ's `Queue` and `Worker` that jobs use, common to both backends. */
export type JobQueue = EmitsErrors &
  Pick<Queue, 'add' | 'drain' | 'getJobCounts' | 'close'> & { waitUntilReady(): Promise<unknown> };
export type JobWorker = EmitsErrors &
  Pick<Worker, 'close'> & {
    waitUntilReady(): Promise<unknown>;
    on(event: 'failed', listener: (job: Pick<Job, 'attemptsMade' | 'opts'> | undefined, error: Error) => void): unknown;
  };

/** The job store: Redis, or PostgreSQL when `REDIS_URL` is not set (design 4). */
export interface JobBackend {
  openQueue(name: string): JobQueue;
  /** Opens a worker that passes the data of each job to `run`. */
  openWorker(name: string, run: (data: unknown) => Promise<void>): JobWorker;
  /** Whether a service must wait for the job store before it starts. */
  readonly isRequired: boolean;
  /** Resolves with whether the job store answers within a second. Never rejects. */
  answers(): Promise<boolean>;
  /** Registers the metric of the connections. */
  registerMetrics(metrics: Metrics): void;
  /** Closes the connections. Close the queues and workers first. */
  close(): Promise<void>;
}

export interface JobBackendOptions {
  readonly redisUrl: string | undefined;
  readonly redisSentinels: readonly HostPort[];
  readonly redisSentinelPassword: string | undefined;
  readonly databaseUrl: string;
  readonly applicationName: string;
  readonly logger: Logger;
}

/** Opens the job store: Redis at `redisUrl`, or else the database at `databaseUrl`. */
export function openJobBackend(options: JobBackendOptions): JobBackend {
  return options.redisUrl === undefined ? openPostgres(options) : openRedis(options.redisUrl, options);
}

const pingTimeoutMs = 3_000;

function openRedis(url: string, options: JobBackendOptions): JobBackend {
  const { redisSentinels: sentinels, redisSentinelPassword: sentinelPassword, logger } = options;
  const { hostname: name } = new URL(url);
  const master = sentinels.length > 0 ? { sentinels: [...sentinels], sentinelPassword, name } : {};
  // Without an offline queue, adds fail at once while Redis is unreachable, instead of piling up in memory.
  const producer = new Redis(url, { ...master, maxRetriesPerRequest: null, enableOfflineQueue: false });
  const consumer = new Redis(url, { ...master, maxRetriesPerRequest: null });
  let lost = 0;
  for (const connection of [producer, consumer]) {
    connection.on('error', (error) => logger.warn({ err: error }, 'the connection to Redis failed'));
    connection.on('close', () => {
      lost += 1;
    });
  }
  // BullMQ itself watches the connection on which a worker blocks for jobs.
  const heartbeats = setInterval(() => {
    for (const connection of [producer, consumer]) void heartbeat(connection, logger);
  }, heartbeatEveryMs).unref();
  return {
    ...openersOf(createRedisBackend, producer, consumer),
    // Slots can be read and written without Redis. The sweep brings the stores up to date.
    isRequired: false,
    answers: () => answersInTime(producer.ping(), 1_000),
    registerMetrics: (metrics) => countLost(metrics, () => lost),
    async close() {
      clearInterval(heartbeats);
      producer.disconnect();
      consumer.disconnect();
    },
  };
}

/** Replaces a connection that no longer answers. ioredis drops the old one 2 s later. */
async function heartbeat(connection: Redis, logger: Logger): Promise<void> {
  if (connection.status !== 'ready') return;
  let isClosed = false;
  const onClose = () => {
    isClosed = true;
  };
  connection.once('close', onClose);
  // An error is an answer too.
  const answered = await answersInTime(
    connection.ping().catch(() => undefined),
    pingTimeoutMs,
  );
  connection.off('close', onClose);
  // A reconnecting connection must be left alone: with Sentinels, ioredis would give it up for good.
  if (answered || isClosed || connection.status !== 'ready') return;
  logger.warn('a connection to Redis no longer answers: it is replaced');
  connection.disconnect(true);
}

function openPostgres({ databaseUrl, applicationName, logger }: JobBackendOptions): JobBackend {
  const pool = createBullmqPool({
    // BullMQ's tables are in their own schema. Poolers reject startup options, and that is intended: a `set` after
    // connecting would change the search path for every client that shares the pooler's connection.
    connectionString: inSession(databaseUrl, 'bullmq', { plan_cache_mode: 'auto' }),
    application_name: `${applicationName} jobs`,
    max: 4,
    // Idle connections stay open. While one is being closed it gets no heartbeats, so nothing would detect its silence.
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    Client: PacedClient,
    // Lets a heartbeat be sent while a BullMQ statement runs.
    pipeline: true,
  });
  let lost = 0;
  pool.on('connect', (client) => {
    client.query(settleSession).catch(() => client instanceof PacedClient && client.destroy());
    // BullMQ keeps one of these connections for LISTEN, so each one needs its own heartbeat.
    const heartbeats = setInterval(
      () => client instanceof PacedClient && void client.heartbeat(),
      heartbeatEveryMs,
    ).unref();
    client.on('end', () => clearInterval(heartbeats));
    client.on('error', (error) => {
      lost += 1;
      logger.warn({ err: error }, 'a connection of the job queue was lost');
    });
  });
  pool.on('error', () => undefined);
  return {
    ...openersOf(createPostgresBackend, pool, pool),
    // BullMQ never recovers if PostgreSQL is unreachable when it starts.
    isRequired: true,
    answers: () => answersInTime(pool.query('select'), 1_000),
    registerMetrics: (metrics) => countLost(metrics, () => lost),
    close: () => pool.end(),
  };
}

function countLost(metrics: Metrics, lost: () => number): void {
  metrics.counter('job_connections_lost_total', 'Connections of the job queue that were closed or silent.', lost);
}

function answersInTime(answer: Promise<unknown>, ms: number): Promise<boolean> {
  return withTimeout(answer, ms, 'no answer').then(
    () => true,
    () => false,
  );
}

function openersOf<Backend extends IQueueBackend, Connection>(
  factory: BackendFactory<Backend, Connection>,
  producer: Connection,
  consumer: Connection,
): Pick<JobBackend, 'openQueue' | 'openWorker'> {
  const { Queue, Worker } = withBackend(factory);
  return {
    openQueue: (name) => new Queue<object>(name, { connection: producer }),
    openWorker: (name, run) =>
      new Worker<object>(name, (job) => run(job.data), {
        connection: consumer,
        concurrency: 1,
        // While the job store is unreachable, one attempt per second is enough.
        runRetryDelay: 1_000,
        // After a worker is killed, its job blocks all later ones until BullMQ considers it stalled.
        lockDuration: 5_000,
        stalledInterval: 2_500,
      }),
  };
}
