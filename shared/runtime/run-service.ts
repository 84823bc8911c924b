import type { Logger } from 'pino';
import { readConfig, type ServiceConfig, type ServiceName } from '../config/config.ts';
import { checkInternals } from '../internals/internals.ts';
import { createLogger } from '../telemetry/logger.ts';
import { runProgram } from './run-program.ts';
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
    const service = await start(config, logger);
    const { grpcPort, webPort, metricsPort } = service;
    logger.info({ grpcPort, webPort, metricsPort }, 'serving');
    await stopRequested;
    logger.info('stopping');
    await service.stop();
    return logger;
  });
}
