import { execFile } from 'node:child_process';
import path from 'node:path';
import { inject } from 'vitest';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, whatever its exit code. */
export function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = process.cwd(),
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(command, [...args], { env: { ...process.env, ...env }, cwd }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Runs a command that has to succeed. Resolves with what it prints; rejects with all that it prints if it fails. */
export async function succeed(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = process.cwd(),
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, env, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
  return stdout.trimEnd();
}

/** Runs a program of the source to its end, from the folder that it was compiled into. */
export function runProgram(source: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  return run(process.execPath, [...programArguments(source), ...args], env);
}

/**
 * The arguments with which Node runs a program of the source.
 *
 * @param source its path in the project, such as `services/slot-service/main.ts`.
 */
export function programArguments(source: string, programFolder = inject('programFolder')): string[] {
  return ['--enable-source-maps', path.join(programFolder, source.replace(/\.ts$/, '.js'))];
}

/** Whether a process with the id is there. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
