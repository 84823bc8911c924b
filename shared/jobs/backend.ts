import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  withBackend,
} from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import type { HostPort } from '../config/variables.ts';
import { createBullmqPool } from '../internals/bullmq.ts';

interface Opened {
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** What a job needs of BullMQ's queue, the same over either backend. */
export interface JobQueue extends Opened {
  add(name: string, data: object, options: JobOptions): Promise<QueuedJob>;
  getJob(id: string): Promise<QueuedJob | undefined>;
  upsertJobScheduler(
    id: string,
    repeat: { every: number },
    template: { name: string; opts: JobOptions },
  ): Promise<unknown>;
  getJobCounts(...states: JobState[]): Promise<Record<string, number>>;
}

export interface QueuedJob {
  readonly id?: string | undefined;
  readonly data: unknown;
  updateData(data: object): Promise<void>;
}

export type JobState = 'waiting' | 'delayed' | 'active' | 'failed';

export interface JobWorker extends Opened {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'failed', listener: (job: FailedJob | undefined, error: Error) => void): unknown;
}

/** A job after a run that failed: it is run again while it has attempts left. */
export interface FailedJob {
  readonly attemptsMade: number;
  readonly opts: { readonly attempts?: number | undefined };
}

export interface JobOptions {
  readonly delay?: number;
  readonly deduplication?: { id: string; keepLastIfActive: boolean };
  readonly attempts?: number;
  readonly backoff?: { type: 'exponential'; delay: number };
  readonly removeOnComplete?: boolean;
  readonly removeOnFail?: number;
}

/** The store of jobs: Redis, or PostgreSQL where no `REDIS_URL` is set (design 4). */
export interface JobBackend {
  openQueue(name: string): JobQueue;
  /** The worker gives the data of each job to `run`. */
  openWorker(name: string, run: (data: unknown) => Promise<void>): JobWorker;
  /** Whether a start has to wait for it: what it can't do without must not come later. */
  readonly isRequired: boolean;
  /** Whether it answers within a second. */
  answers(): Promise<boolean>;
  /** Calls back whenever the connection is there again: what the store held may be gone. */
  onReconnect(callback: () => void): void;
  /** Closes the connections, after the queues and workers. */
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

export function openJobBackend(options: JobBackendOptions): JobBackend {
  const { redisUrl, databaseUrl, applicationName, logger } = options;
  if (redisUrl !== undefined) {
    const { hostname: name } = new URL(redisUrl);
    const { redisSentinels: sentinels, redisSentinelPassword: sentinelPassword } = options;
    const master = sentinels.length > 0 ? { sentinels: [...sentinels], sentinelPassword, name } : {};
    // Without an offline queue an add fails at once while Redis is away, instead of piling up.
    const producer = new Redis(redisUrl, { ...master, maxRetriesPerRequest: null, enableOfflineQueue: false });
    const consumer = new Redis(redisUrl, { ...master, maxRetriesPerRequest: null });
    for (const connection of [producer, consumer]) {
      connection.on('error', (error) => logger.warn({ err: error }, 'the connection to Redis failed'));
    }
    return {
      ...bind(createRedisBackend, producer, consumer),
      // Writes and reads of slots go on without Redis; the stores catch up once it is there.
      isRequired: false,
      answers: () => inASecond(producer.ping()),
      onReconnect: (callback) => void producer.on('ready', callback),
      async close() {
        producer.disconnect();
        consumer.disconnect();
      },
    };
  }
  const pool = createBullmqPool({
    connectionString: databaseUrl,
    application_name: `${applicationName} jobs`,
    // BullMQ keeps its tables in a schema of its own. A pooler refuses this, and has to: set later, it
    // would change the connections of others.
    options: '-c search_path=bullmq',
    max: 4,
    keepAlive: true,
  });
  pool.on('connect', (client) => {
    client.on('error', (error) => logger.warn({ err: error }, 'a connection of the job queue was lost'));
  });
  pool.on('error', () => undefined);
  return {
    ...bind(createPostgresBackend, pool, pool),
    // BullMQ remembers for good that it could not reach PostgreSQL when it started.
    isRequired: true,
    answers: () => inASecond(pool.query('select')),
    onReconnect: () => undefined,
    close: () => pool.end(),
  };
}

function inASecond(asked: Promise<unknown>): Promise<boolean> {
  return withTimeout(asked, 1_000, 'it does not answer').then(
    () => true,
    () => false,
  );
}

function bind<Backend extends IQueueBackend, Connection>(
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
        // One try every second is enough while the store of jobs is away.
        runRetryDelay: 1_000,
        // A job whose worker was killed holds back all later ones until it counts as stalled.
        lockDuration: 10_000,
        stalledInterval: 5_000,
      }),
  };
}
