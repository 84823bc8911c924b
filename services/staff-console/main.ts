import { runProgram } from '../../shared/runtime/run-service.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { readConsoleConfig } from './config.ts';
import { startConsole } from './server.ts';

const name = 'staff-console';

await runProgram(name, async (stopRequested) => {
  const config = readConsoleConfig(process.env);
  const logger = createLogger(name, config.logLevel);
  const { port, stop } = await startConsole(config);
  logger.info({ port }, 'serving');
  await stopRequested;
  logger.info('stopping');
  await stop();
  return logger;
});
