import { spawnSync } from 'node:child_process';
import { describeUnless } from '../support/describe-unless.ts';
import { succeed } from '../support/processes.ts';

const answers = ([command = '', ...args]: readonly string[]) =>
  spawnSync(command, args, { stdio: 'ignore', timeout: 30_000 }).status === 0;

/** Compose is a plugin of `docker`, or a program of its own. */
const composeCommand = [['docker', 'compose'], ['docker-compose']].find((command) => answers([...command, 'version']));

/** Why tests of containers can't run here; undefined when they can. */
export const noEngine = !answers(['docker', 'version'])
  ? 'no Docker engine answers'
  : composeCommand === undefined
    ? 'no Docker Compose'
    : undefined;

/** Declares tests of containers: skipped with the reason where there is no engine, unless REQUIRE_DOCKER is set. */
export function describeWithEngine(title: string, tests: () => void): void {
  describeUnless(noEngine, title, 'REQUIRE_DOCKER', tests);
}

/** Runs a command of the engine at DOCKER_HOST, or of the default one. Resolves with what it prints; rejects if it fails. */
export function docker(...args: readonly string[]): Promise<string> {
  return succeed('docker', args);
}

/** Runs a command of Compose in the project's folder, with variables for its file. As `docker`. */
export function compose(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const [command = '', ...first] = composeCommand ?? [];
  return succeed(command, [...first, ...args], env);
}
