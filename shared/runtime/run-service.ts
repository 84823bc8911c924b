import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import { withArguments } from '../config/arguments.ts';
import { readConfig, type ServiceConfig, type ServiceName } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';
import { checkInternals } from '../internals/internals.ts';
import { createLogger } from '../telemetry/logger.ts';
import { forThisProcess, reportServing, runProcesses } from './processes.ts';
import type { RunningService } from './start-service.ts';

const logFlushMs = 1_000;

/**
 * Runs a service until SIGTERM or SIGINT, in this process or, with `--processes N` or the variable PROCESSES, in N
 * processes. If it can't start, it prints a line for each reason and exits with code 1.
 */
export async function runService(
  name: ServiceName,
  start: (config: ServiceConfig, logger: Logger) => Promise<RunningService>,
): Promise<void> {
  const stopRequested = untilStopRequested();
  try {
    checkInternals();
    const config = readConfig(name, withArguments(process.env));
    const logger = createLogger(`${name}-service`, config.logLevel);
    if (config.processes > 1 && cluster.isPrimary) {
      await runProcesses(config.processes, stopRequested, logger);
    } else {
      const service = await start(forThisProcess(config), logger);
      const { grpcPort, webPort, metricsPort } = service;
      logger.info({ grpcPort, webPort, metricsPort }, 'serving');
      reportServing();
      await stopRequested;
      logger.info('stopping');
      await service.stop();
    }
    await withTimeout(
      new Promise<void>((resolve) => logger.flush(() => resolve())),
      logFlushMs,
      'the log is not read',
    ).catch(() => undefined);
    process.exit(0);
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const line of error.message.split('\n')) process.stderr.write(`${name}-service: ${line}\n`);
    } else {
      process.stderr.write(`${name}-service: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
    process.exit(1);
  }
}

/** Resolves when this process is asked to stop, or when its parent process has ended. */
function untilStopRequested(): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected === false) resolve();
    // Not `once`: if a whole process group is signaled, as systemd does, the processes of `--processes` get each signal
    // twice, and a signal without a listener would end them at once.
    process.on('SIGTERM', () => resolve());
    process.on('SIGINT', () => resolve());
    process.prependOnceListener('disconnect', () => {
      // Otherwise Node's own listener in a cluster worker ends it at once, with calls in flight.
      if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
      resolve();
    });
  });
}
