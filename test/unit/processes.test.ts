import cluster from 'node:cluster';
import { expect, it } from 'vitest';
import { ConfigError } from '../../shared/config/variables.ts';
import { runProcesses } from '../../shared/runtime/processes.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';

it('A process that cannot be started ends the start of all processes, with the reason', async () => {
  cluster.setupPrimary({ cwd: '/no/such/folder' });
  const logger = createLogger('slot-service', 'silent', { write: () => undefined });
  const starting = runProcesses(2, new Promise(() => undefined), logger);
  const error = await starting.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toMatch(/ended before it served \(spawn .* ENOENT\)/);
});
