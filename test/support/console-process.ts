import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'node:http';
import { programArguments } from './processes.ts';

/** How a run of the console ended. */
export interface ConsoleEnd {
  readonly code: number | null;
  readonly stderr: string;
}

/** An answer as it was on the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** The server of the console in a process of its own. */
export class ConsoleProcess {
  readonly ended: Promise<ConsoleEnd>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  /** @param variables unless they name a port, it takes a free one. */
  constructor(variables: Readonly<Record<string, string>> = {}) {
    const { LOG_LEVEL: _level, ...env } = process.env;
    this.#child = spawn(process.execPath, programArguments('services/staff-console/main.ts'), {
      env: { ...env, CONSOLE_PORT: '0', BIND_ADDRESS: '127.0.0.1', ...variables },
      // The channel closes with this process, however it ends, and the console stops then.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString('utf8');
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => resolve({ code, stderr: this.#stderr }));
    });
  }

  /** Resolves with the port once it serves; rejects with what it printed when it ends before. */
  serving(): Promise<number> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const line = this.#stdout.split('\n').find((text) => text.includes('"serving"'));
        if (line !== undefined) resolve(JSON.parse(line).port);
      };
      this.#child.stdout?.on('data', look);
      look();
      void this.ended.then(({ stderr }) => reject(new Error(`the console did not start: ${stderr}`)));
    });
  }

  /** Asks it to stop, and resolves once it has ended. */
  stop(): Promise<ConsoleEnd> {
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}

/** Sends a request whose path is sent as it is: `fetch` would resolve the dots in it. */
export function sendRaw(
  port: number,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    sent.once('error', reject);
    sent.end();
  });
}
