import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { withArguments } from '../config/arguments.ts';
import { readConfig, type ServiceConfig, type ServiceName } from '../config/config.ts';
import { checkInternals } from '../internals/internals.ts';
import { createLogger } from '../telemetry/logger.ts';
import { forThisProcess, reportServing, runProcesses } from './processes.ts';
import { runProgram } from './run-program.ts';
import type { RunningService } from './start-service.ts';

/**
 * Runs a service as `runProgram` does: in this process or, with `--processes N` or the variable
 * PROCESSES, in N processes.
 */
export function runService(
  name: ServiceName,
  start: (config: ServiceConfig, logger: Logger) => Promise<RunningService>,
): Promise<never> {
  return runProgram(`${name}-service`, async (stopRequested) => {
    checkInternals();
    const config = readConfig(name, withArguments(process.env));
    const logger = createLogger(`${name}-service`, config.logLevel);
    if (config.processes > 1 && cluster.isPrimary) {
      await runProcesses(config.processes, stopRequested, logger);
      return logger;
    }
    const service = await start(forThisProcess(config), logger);
    const { grpcPort, webPort, metricsPort } = service;
    logger.info({ grpcPort, webPort, metricsPort }, 'serving');
    reportServing();
    await stopRequested;
    logger.info('stopping');
    await service.stop();
    return logger;
  });
}
