import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { withTimeout } from '../cancellation/timeout.ts';
import { readConfig, type ServiceConfig, type ServiceName } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';
import { checkInternals } from '../internals/internals.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { RunningService } from './start-service.ts';

/** Runs a service as `runProgram` does. */
export function runService(
  name: ServiceName,
  start: (config: ServiceConfig, logger: Logger) => Promise<RunningService>,
): Promise<never> {
  return runProgram(`${name}-service`, async (stopRequested) => {
    checkInternals();
    const config = readConfig(name, process.env);
    const logger = createLogger(`${name}-service`, config.logLevel);
    const service = await Promise.race([start(config, logger), stopRequested]);
    // Its ports do not serve yet, or have just begun to: there is nothing to wait for.
    if (service === undefined) return logger;
    const { grpcPort, webPort, metricsPort } = service;
    logger.info({ grpcPort, webPort, metricsPort }, 'serving');
    await stopRequested;
    logger.info('stopping');
    await service.stop();
    return logger;
  });
}

const logFlushMs = 1_000;

/**
 * Runs a program until SIGTERM or SIGINT, then exits the process. If the program can't start, prints a line per
 * reason and exits with code 1.
 *
 * @param run serves until `stopRequested` resolves, then stops and resolves with its logger.
 */
export async function runProgram(name: string, run: (stopRequested: Promise<void>) => Promise<Logger>): Promise<never> {
  // V8 would place some short-lived objects of a call among the old ones. Until the next full garbage collection, these
  // keep the rest of their call alive (docs/performance.md has the figures).
  setFlagsFromString('--no-allocation-site-pretenuring');
  try {
    const logger = await run(untilStopRequested());
    await withTimeout(
      new Promise<void>((resolve) => logger.flush(() => resolve())),
      logFlushMs,
      'the log is not read',
    ).catch(() => undefined);
    process.exit(0);
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const line of error.message.split('\n')) process.stderr.write(`${name}: ${line}\n`);
    } else {
      process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
    process.exit(1);
  }
}

/** Resolves when this process is asked to stop, or when its parent process has ended. */
function untilStopRequested(): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected === false) resolve();
    // Not `once`: without a listener, a second signal would end the process at once.
    process.on('SIGTERM', () => resolve());
    process.on('SIGINT', () => resolve());
    process.once('disconnect', () => resolve());
  });
}
