import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment } from '../../shared/config/variables.ts';
import { projectRoot } from './settings.ts';

/** A service that runs in a process of its own. */
export interface ServiceProcess {
  /** Resolves with the reason when the process ends, even after a stop. */
  readonly ended: Promise<string>;
  /** Returns the time of the service's last output line, in Unix ms. */
  lastWroteAt(): number;
  stop(): Promise<void>;
  kill(): void;
}

/**
 * Starts a service in its own process group, so that a terminal's Ctrl-C reaches only `npm start`, which stops the
 * services in order. The service also stops when this process ends, because the IPC channel closes.
 */
export function startServiceProcess(name: string, env: Environment): ServiceProcess {
  const main = path.join(projectRoot, 'services', name, 'main.ts');
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main], {
    cwd: projectRoot,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let wroteAt = Date.now();
  for (const input of [child.stdout, child.stderr]) {
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      wroteAt = Date.now();
      process.stdout.write(`${line}\n`);
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${name} could not be run: ${error.message}`));
    child.once('close', (code, signal) => resolve(`${name} ended by itself (${signal ?? `exit code ${code}`})`));
  });
  return {
    ended,
    lastWroteAt: () => wroteAt,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
    kill: () => child.kill('SIGKILL'),
  };
}
