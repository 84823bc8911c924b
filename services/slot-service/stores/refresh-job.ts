import { CallSignal } from '../../../shared/cancellation/signal.ts';
import { ownName, storeRefreshQueue } from '../../../shared/db/schema.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { openJobBackend } from '../../../shared/jobs/backend.ts';
import { SingletonJob } from '../../../shared/jobs/singleton-job.ts';
import type { ServiceParts } from '../../../shared/runtime/start-service.ts';
import { createRefreshMetrics } from './metrics.ts';
import { refreshStores } from './refresh.ts';

const refreshTimeoutMs = 60_000;

/**
 * Runs one refresh of the stores if requests are pending, with its log line and metrics. Rejects if the refresh fails.
 */
export type Refresh = (stopped?: AbortSignal) => Promise<void>;

/** Creates the function that runs a refresh. It aborts the refresh after a timeout, or when `stopped` aborts. */
export function createRefresh({ database, logger, metrics }: ServiceParts): Refresh {
  const refreshMetrics = createRefreshMetrics(metrics);
  return async (stopped) => {
    const start = performance.now();
    // Not AbortSignal.any: Node 20 would keep some bytes of each refresh for as long as `stopped` lives.
    const signal = new CallSignal();
    const stop = () => signal.abort(() => new Error('the refresh is stopped, or took too long'));
    const timer = setTimeout(stop, refreshTimeoutMs);
    stopped?.addEventListener('abort', stop);
    if (stopped?.aborted) stop();
    const refreshed = await refreshStores(database, signal)
      .catch((error: unknown) => {
        refreshMetrics.failed();
        throw error;
      })
      .finally(() => {
        clearTimeout(timer);
        stopped?.removeEventListener('abort', stop);
      });
    if (refreshed === undefined) return;
    const durationMs = performance.now() - start;
    refreshMetrics.succeeded(durationMs / 1_000);
    logger.info({ ...refreshed, durationMs: Math.round(durationMs) }, 'stores refreshed');
  };
}

/**
 * Starts the job that refreshes the stores after requests, delayed and deduplicated (design 4), and the sweep
 * that covers for the job's failures.
 *
 * @returns a function that requests a refresh. It neither waits nor throws.
 */
export async function startRefreshJob(parts: ServiceParts, refresh: Refresh): Promise<() => void> {
  const { config, database, draining, logger, shutdown, metrics, tracing } = parts;
  const { redisUrl, redisSentinels, redisSentinelPassword, storeRefreshDelayMs: delayMs } = config;
  const { directUrl: databaseUrl, applicationName } = config.database;
  const redis = { redisUrl, redisSentinels, redisSentinelPassword };
  const backend = openJobBackend({ ...redis, databaseUrl, applicationName, logger });
  shutdown.push({ name: 'job connections', stop: () => backend.close() });
  backend.registerMetrics(metrics);
  const name = storeRefreshQueue;
  const { name: queue } = onlyRow(await database.for({ signal: draining }).query(ownName({ name })));
  const job = new SingletonJob({ name, queue, delayMs, backend, logger, tracing, run: refresh });
  job.registerMetrics(metrics);
  shutdown.push({ name: 'refresh job', stop: (leftMs) => job.close(leftMs) });
  await job.start();
  startSweep(parts, { refresh, mendQueue: () => job.restart() });
  return () => job.request();
}

const everyMs = 5_000;
/** How long a request may wait for its job, in addition to the job's delay. */
const graceMs = 8_000;

// A running refresh counts as taking care of them, however long it takes.
const overdueRequests = statement<{ areOverdue: boolean }, { ms: number }>(
  'overdueRequests',
  `select exists (
     select from store_refresh_requests where requested_at < now() - $ms::integer * interval '1 ms'
   ) and not exists (
     select from pg_locks where relation = 'store_versions'::regclass and mode = 'ExclusiveLock' and granted
       and database = (select oid from pg_database where datname = current_database())
   ) as "areOverdue"`,
);

/** The actions of a sweep that finds overdue requests. */
interface SweepOptions {
  refresh(stopped: AbortSignal): Promise<void>;
  /** Repairs the job queue, which has left requests waiting. */
  mendQueue(): Promise<void>;
}

/**
 * Starts the sweep (design 4). Each replica looks for requests that no job has taken in time, by PostgreSQL's
 * clock and without the queue, and refreshes the stores for them. BullMQ makes refreshes prompt. The sweep guarantees
 * them within 30 s, even if the queue, its jobs or its connections fail.
 */
export function startSweep(
  { config, database, logger, metrics, shutdown }: ServiceParts,
  { refresh, mendQueue }: SweepOptions,
): void {
  const stopped = new AbortController();
  let sweptFor = 0;
  metrics.counter(
    'store_refresh_sweeps_total',
    'Refreshes by the sweep, because the job queue had run none in time.',
    () => sweptFor,
  );

  async function sweep(): Promise<void> {
    const db = database.for({ signal: stopped.signal });
    const [found] = await db.query(overdueRequests({ ms: config.storeRefreshDelayMs + graceMs }));
    if (!found?.areOverdue) return;
    sweptFor += 1;
    logger.warn('the job queue has left refresh requests waiting: the sweep refreshes the stores');
    await refresh(stopped.signal);
    await mendQueue();
  }

  let sweeping: Promise<void> | undefined;
  const timer = setInterval(() => {
    sweeping ??= sweep()
      .catch((error: unknown) => {
        if (!stopped.signal.aborted) logger.warn({ err: error }, 'the sweep of refresh requests failed');
      })
      .finally(() => {
        sweeping = undefined;
      });
  }, everyMs).unref();
  shutdown.push({
    name: 'sweep',
    async stop() {
      clearInterval(timer);
      stopped.abort(new Error('the service stops'));
      await sweeping;
    },
  });
}
