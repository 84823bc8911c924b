import { type AbortSignalLike, CallSignal } from '../../../shared/cancellation/signal.ts';
import { NotificationListener } from '../../../shared/db/listener.ts';
import { storeRefreshQueue } from '../../../shared/db/migrate.ts';
import { openJobBackend } from '../../../shared/jobs/backend.ts';
import { SingletonJob } from '../../../shared/jobs/singleton-job.ts';
import type { ServiceParts } from '../../../shared/runtime/start-service.ts';
import { type SequenceCache, sequenceChannel } from '../sequence.ts';
import { createRefreshMetrics, registerStoreMetrics } from './metrics.ts';
import { refreshStores, storeVersionChannel } from './refresh.ts';
import { StoreReplica } from './replica.ts';

const sweepEveryMs = 30_000;
const refreshTimeoutMs = 60_000;

export interface RunningStores {
  readonly replica: StoreReplica;
  requestRefresh(): void;
}

/**
 * Brings up the derived stores of a replica (design 4): what was asked for before is built now, then
 * the worker and the sweep run, and the listener tells of new versions and changed sequences.
 */
export async function startStores(
  { config, database, logger, shutdown, metrics, tracing, draining }: ServiceParts,
  sequences: SequenceCache,
): Promise<RunningStores> {
  const refreshMetrics = createRefreshMetrics(metrics);
  const refresh = async (stopped?: AbortSignal) => {
    const start = performance.now();
    const refreshed = await endingWith(stopped, (signal) => refreshStores(database, signal)).catch((error: unknown) => {
      refreshMetrics.failed();
      throw error;
    });
    if (refreshed === undefined) return;
    const durationMs = Math.round(performance.now() - start);
    refreshMetrics.succeeded((performance.now() - start) / 1_000);
    logger.info({ version: refreshed.version, requests: refreshed.requests, durationMs }, 'stores refreshed');
  };
  await refresh();
  const replica = await StoreReplica.open(database, draining, logger);
  registerStoreMetrics(metrics, replica, database);

  const listener = new NotificationListener(
    config.database,
    database,
    {
      channels: {
        [storeVersionChannel]: () => replica.load(),
        [sequenceChannel]: (payload) => dropChangedSequence(payload, sequences),
      },
      connected() {
        sequences.resume();
        replica.load();
      },
      disconnected: () => sequences.bypass(),
    },
    logger,
  );
  shutdown.push({ name: 'listener', stop: () => listener.stop() });
  await listener.start();

  const { redisUrl, redisSentinels, redisSentinelPassword, storeRefreshDelayMs: delayMs } = config;
  const { url, directUrl: databaseUrl = url, applicationName } = config.database;
  const backend = openJobBackend({
    redisUrl,
    redisSentinels,
    redisSentinelPassword,
    databaseUrl,
    applicationName,
    logger,
  });
  shutdown.push({ name: 'job connections', stop: () => backend.close() });
  const job = new SingletonJob({
    name: storeRefreshQueue,
    delayMs,
    sweepEveryMs,
    backend,
    logger,
    tracing,
    run: refresh,
  });
  job.registerMetrics(metrics);
  shutdown.push({ name: 'refresh job', stop: (leftMs) => job.close(leftMs) });
  await job.start();
  return { replica, requestRefresh: () => job.request() };
}

function dropChangedSequence(payload: string, sequences: SequenceCache): void {
  const { slotId, sender } = JSON.parse(payload);
  sequences.hear(Number(slotId), String(sender));
}

/**
 * Runs a refresh with a signal that aborts when it takes too long, or with `stopped`, on which it
 * leaves nothing: that one lives as long as the process.
 */
async function endingWith<Result>(
  stopped: AbortSignal | undefined,
  work: (signal: AbortSignalLike) => Promise<Result>,
): Promise<Result> {
  const signal = new CallSignal();
  const timer = setTimeout(() => signal.abort(() => new Error('the refresh took too long')), refreshTimeoutMs);
  const stop = () => signal.abort(() => new Error('the service stops', { cause: stopped?.reason }));
  if (stopped?.aborted) stop();
  stopped?.addEventListener('abort', stop);
  try {
    return await work(signal);
  } finally {
    clearTimeout(timer);
    stopped?.removeEventListener('abort', stop);
  }
}
