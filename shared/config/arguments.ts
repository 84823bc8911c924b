import { parseArgs } from 'node:util';
import { ConfigError } from './variables.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables, with what the command line says in their place: `--processes N` is PROCESSES.
 * Throws a `ConfigError` for anything else.
 */
export function withArguments(env: Environment, args = process.argv.slice(2)): Environment {
  try {
    const { processes } = parseArgs({ args, options: { processes: { type: 'string' } } }).values;
    return processes === undefined ? env : { ...env, PROCESSES: processes };
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
