import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';

// One that ends sooner than this after its start waits before the next, each time twice as long.
const shortLifeMs = 5_000;
const firstPauseMs = 500;
const maxPauseMs = 30_000;

const serving = 'serving';

/**
 * Runs this program in several processes, which share its ports: the system's connections are handed
 * to them in turns. Once one of them has served, any that ends by itself is started again, however
 * soon, and the others serve on.
 *
 * Resolves once `stopAsked` has and all of them have stopped. Rejects with a `ConfigError` when one
 * ends before any has served: what keeps it from starting keeps the others, too, and they are stopped.
 */
export async function runProcesses(count: number, stopAsked: Promise<void>, logger: Logger): Promise<void> {
  const running = new Set<Worker>();
  const stopped = new AbortController();
  const stop = () => {
    stopped.abort();
    for (const worker of running) worker.process.kill('SIGTERM');
  };
  let hasServed = false;

  const keepRunning = async (number: number): Promise<void> => {
    let pauseMs = firstPauseMs;
    while (!stopped.signal.aborted) {
      const startedAt = Date.now();
      const worker = cluster.fork({ PROCESS_NUMBER: String(number) });
      running.add(worker);
      worker.on('message', (message) => {
        if (message === serving) hasServed = true;
      });
      const [code, signal] = await exitOf(worker);
      running.delete(worker);
      if (stopped.signal.aborted) return;
      const pid = worker.process.pid;
      if (!hasServed) {
        stop();
        throw new ConfigError(`process ${pid} ended before it served (${signal ?? `exit code ${code}`})`);
      }
      logger.error({ pid, code, signal }, 'a process ended by itself and is started again');
      if (Date.now() - startedAt >= shortLifeMs) {
        pauseMs = firstPauseMs;
        continue;
      }
      await pause(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  };

  void stopAsked.then(stop);
  const ended = await Promise.allSettled(Array.from({ length: count }, (_, number) => keepRunning(number)));
  for (const end of ended) {
    if (end.status === 'rejected') throw end.reason;
  }
}

/** Tells `runProcesses` that this process, when it is one of several, answers calls. */
export function reportServing(): void {
  // A primary that is gone by now has nobody to tell.
  cluster.worker?.send(serving, () => undefined);
}

/**
 * The configuration of this one of several processes: each shows its metrics on a port of its own, the
 * configured one and those after it, because a shared port would show one of them by chance.
 */
export function forThisProcess(config: ServiceConfig): ServiceConfig {
  const number = Number(process.env.PROCESS_NUMBER ?? 0);
  return { ...config, metricsPort: config.metricsPort && config.metricsPort + number };
}

function exitOf(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return new Promise((resolve) => {
    // One that could not be started has no exit; for others the channel to them is lost.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) resolve([null, error.message]);
    });
    worker.once('exit', (code: number | null, signal: string | null) => resolve([code, signal]));
  });
}
