import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';

// A process that ends sooner than this is restarted after a pause, which doubles each time.
const shortLifeMs = 5_000;
const firstPauseMs = 500;
const maxPauseMs = 30_000;

const serving = 'serving';

/**
 * Runs this program in `count` processes that share its ports: new connections go to the processes in turn. Once a
 * process has served, each process that ends by itself is restarted while the others keep serving.
 *
 * Resolves once `stopRequested` has resolved and all processes have stopped. If a process ends before any has served,
 * the same problem would keep all of them from starting: stops all processes and rejects with a `ConfigError`.
 */
export async function runProcesses(count: number, stopRequested: Promise<void>, logger: Logger): Promise<void> {
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

  void stopRequested.then(stop);
  const ended = await Promise.allSettled(Array.from({ length: count }, (_, number) => keepRunning(number)));
  for (const end of ended) {
    if (end.status === 'rejected') throw end.reason;
  }
}

/** Tells `runProcesses` that this process is serving, if it is one of several. */
export function reportServing(): void {
  // Ignores an error in the callback, because the primary may have ended.
  cluster.worker?.send(serving, () => undefined);
}

/**
 * Returns the configuration of this process when it is one of several. Each process serves its metrics on its own port,
 * counted up from the configured port, because a scrape of a shared port would reach a random process.
 */
export function forThisProcess(config: ServiceConfig): ServiceConfig {
  const number = Number(process.env.PROCESS_NUMBER ?? 0);
  return { ...config, metricsPort: config.metricsPort && config.metricsPort + number };
}

function exitOf(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return new Promise((resolve) => {
    // A process that could not be started has no 'exit' event. For a running process, this error
    // means a lost IPC channel.
    worker.on('error', (error) => {
      if (worker.process.pid === undefined) resolve([null, error.message]);
    });
    worker.once('exit', (code: number | null, signal: string | null) => resolve([code, signal]));
  });
}
