import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../config/config.ts';

// A process that ends sooner than this after its start would only end again.
const shortestLifeMs = 5_000;

/**
 * Runs this program in several processes, which share its ports: the system's connections are handed
 * to them in turns. One that ends by itself is started again.
 *
 * Resolves once `stopAsked` has and all of them have stopped; rejects when one ends just after its
 * start, after the others were stopped.
 */
export async function runProcesses(count: number, stopAsked: Promise<void>, logger: Logger): Promise<void> {
  const running = new Set<Worker>();
  let stopping = false;
  const stop = () => {
    stopping = true;
    for (const worker of running) worker.process.kill('SIGTERM');
  };

  const keepRunning = async (number: number): Promise<void> => {
    while (!stopping) {
      const startedAt = Date.now();
      const worker = cluster.fork({ PROCESS_NUMBER: String(number) });
      running.add(worker);
      const [code, signal] = await exitOf(worker);
      running.delete(worker);
      if (stopping) return;
      const pid = worker.process.pid;
      if (Date.now() - startedAt < shortestLifeMs) {
        stop();
        throw new Error(`process ${pid} ended just after its start (${signal ?? `exit code ${code}`})`);
      }
      logger.error({ pid, code, signal }, 'a process ended by itself and is started again');
    }
  };

  void stopAsked.then(stop);
  const ended = await Promise.allSettled(Array.from({ length: count }, (_, number) => keepRunning(number)));
  for (const end of ended) {
    if (end.status === 'rejected') throw end.reason;
  }
}

/**
 * The configuration of this one of several processes: each shows its metrics on a port of its own, the
 * configured one and those after it, because a shared port would show one of them by chance.
 */
export function ofThisProcess(config: ServiceConfig): ServiceConfig {
  const number = Number(process.env.PROCESS_NUMBER ?? 0);
  return { ...config, metricsPort: config.metricsPort && config.metricsPort + number };
}

function exitOf(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) => resolve([code, signal]));
  });
}
