import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { environmentOf } from '../bench/servers.ts';

/** The memory of a process after a garbage collection, in bytes, and the number of its timers, sockets and so on. */
export interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly resources: number;
  readonly kinds: Readonly<Record<string, number>>;
}

/** A service under test, in a process of its own with a small heap. */
export class FuzzedService {
  readonly name: 'slot' | 'coupon';
  readonly grpcPort: number;
  readonly webPort: number;
  readonly #child: ChildProcess;
  readonly #log: FileHandle;
  readonly #stderrFile: string;
  #rest = '';

  private constructor(
    name: 'slot' | 'coupon',
    { child, log, stderrFile }: { child: ChildProcess; log: FileHandle; stderrFile: string },
    ports: { grpcPort: number; webPort: number },
  ) {
    [this.name, this.grpcPort, this.webPort] = [name, ports.grpcPort, ports.webPort];
    [this.#child, this.#log, this.#stderrFile] = [child, log, stderrFile];
  }

  /** Starts a service with its log in files of `folder`. Rejects when it does not serve. */
  static async start(
    name: 'slot' | 'coupon',
    databaseUrl: string,
    programFolder: string,
    folder: string,
  ): Promise<FuzzedService> {
    const [logFile, stderrFile] = [path.join(folder, `${name}.log`), path.join(folder, `${name}.stderr`)];
    const probe = path.join(programFolder, 'test/fuzz/memory-probe.js');
    const main = path.join(programFolder, `services/${name}-service/main.js`);
    const child = spawn(process.execPath, ['--expose-gc', '--max-old-space-size=192', '--import', probe, main], {
      env: {
        ...{ PATH: process.env.PATH, ...environmentOf(name, databaseUrl) },
        ...{ STORE_REFRESH_DELAY_MS: '100', CORS_ORIGINS: 'http://localhost:3000' },
      },
      stdio: ['ignore', openSync(logFile, 'w'), openSync(stderrFile, 'w'), 'ipc'],
    });
    for (let waited = 0; waited < 600; waited += 1) {
      const serving = (await readFile(logFile, 'utf8')).split('\n').find((line) => line.includes('"msg":"serving"'));
      if (serving !== undefined)
        return new FuzzedService(name, { child, log: await open(logFile), stderrFile }, JSON.parse(serving));
      if (child.exitCode !== null) break;
      await delay(50);
    }
    child.kill('SIGKILL');
    throw new Error(`${name}-service did not start: ${await readFile(stderrFile, 'utf8')}`);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Why the process has ended, or what it wrote to stderr; undefined when neither happened. */
  async endedBecause(): Promise<string | undefined> {
    const { exitCode, signalCode } = this.#child;
    const stderr = await readFile(this.#stderrFile, 'utf8');
    if (exitCode !== null || signalCode !== null)
      return `${this.name}-service ended (${exitCode ?? signalCode}): ${stderr.slice(0, 2_000)}`;
    return stderr === '' ? undefined : `${this.name}-service wrote to stderr: ${stderr.slice(0, 2_000)}`;
  }

  /** The lines that it has logged since the last call. */
  async newLines(): Promise<string[]> {
    const { buffer, bytesRead } = await this.#log.read(Buffer.alloc(64 * 1024 * 1024));
    const lines = (this.#rest + buffer.toString('utf8', 0, bytesRead)).split('\n');
    this.#rest = lines.pop() ?? '';
    return lines;
  }

  /** Its memory after a garbage collection. */
  async memory(): Promise<Memory> {
    const answer = once(this.#child, 'message', { signal: AbortSignal.timeout(10_000) });
    this.#child.send('memory');
    const [memory]: Memory[] = await answer;
    if (memory === undefined) throw new Error('the service did not report its memory');
    return memory;
  }

  async stop(): Promise<void> {
    await this.#log.close();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}
