import { parseArgs } from 'node:util';
import { ConfigError, type Environment } from './variables.ts';

/**
 * Returns the environment with command-line options applied over it: `--processes N` sets PROCESSES. Throws a
 * `ConfigError` for any other argument.
 */
export function withArguments(env: Environment, args = process.argv.slice(2)): Environment {
  try {
    const { processes } = parseArgs({ args, options: { processes: { type: 'string' } } }).values;
    return processes === undefined ? env : { ...env, PROCESSES: processes };
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
