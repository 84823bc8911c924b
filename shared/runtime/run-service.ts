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
 * Runs a service as this process, or with `--processes N` (or the variable PROCESSES) as N of them,
 * until SIGTERM or SIGINT. A start that is refused prints a line a reason and exits with 1.
 */
export async function runService(
  name: ServiceName,
  start: (config: ServiceConfig, logger: Logger) => Promise<RunningService>,
): Promise<void> {
  const stopAsked = untilAskedToStop();
  try {
    checkInternals();
    const config = readConfig(name, withArguments(process.env));
    const logger = createLogger(`${name}-service`, config.logLevel);
    if (config.processes > 1 && cluster.isPrimary) {
      await runProcesses(config.processes, stopAsked, logger);
    } else {
      const service = await start(forThisProcess(config), logger);
      const { grpcPort, webPort, metricsPort } = service;
      logger.info({ grpcPort, webPort, metricsPort }, 'serving');
      reportServing();
      await stopAsked;
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

/** Resolves when this process is asked to stop, or when the parent that started it is gone. */
function untilAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected === false) resolve();
    // Not once: what stops a whole process group, as systemd does, reaches the processes of
    // `--processes` twice, and a signal without a listener would end them at once.
    process.on('SIGTERM', () => resolve());
    process.on('SIGINT', () => resolve());
    process.prependOnceListener('disconnect', () => {
      // Or Node's own listener in a worker ends it at once, with its calls in flight.
      if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
      resolve();
    });
  });
}
