import { storeRefreshQueue } from '../../../shared/db/schema.ts';
import { openJobBackend } from '../../../shared/jobs/backend.ts';
import { SingletonJob } from '../../../shared/jobs/singleton-job.ts';
import type { ServiceParts } from '../../../shared/runtime/start-service.ts';
import { createRefreshMetrics } from './metrics.ts';
import { refreshStores } from './refresh.ts';
import { startSweep } from './sweep.ts';

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
    const timeout = AbortSignal.timeout(refreshTimeoutMs);
    const signal = stopped === undefined ? timeout : AbortSignal.any([stopped, timeout]);
    const refreshed = await refreshStores(database, signal).catch((error: unknown) => {
      refreshMetrics.failed();
      throw error;
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
  const { config, logger, shutdown, metrics, tracing } = parts;
  const { redisUrl, redisSentinels, redisSentinelPassword, storeRefreshDelayMs: delayMs } = config;
  const { directUrl: databaseUrl, applicationName } = config.database;
  const redis = { redisUrl, redisSentinels, redisSentinelPassword };
  const backend = openJobBackend({ ...redis, databaseUrl, applicationName, logger });
  shutdown.push({ name: 'job connections', stop: () => backend.close() });
  backend.registerMetrics(metrics);
  const job = new SingletonJob({ name: storeRefreshQueue, delayMs, backend, logger, tracing, run: refresh });
  job.registerMetrics(metrics);
  shutdown.push({ name: 'refresh job', stop: (leftMs) => job.close(leftMs) });
  await job.start();
  startSweep(parts, { refresh, mendQueue: () => job.restart() });
  return () => job.request();
}
