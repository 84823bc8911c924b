import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../../services/dev/ports.ts';
import { isAlive } from '../support/processes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const portVariables = ['SLOT_GRPC_PORT', 'SLOT_WEB_PORT', 'COUPON_GRPC_PORT', 'COUPON_WEB_PORT', 'CONSOLE_PORT'];

/** A data folder and free ports, as variables. */
export type Place = Readonly<Record<string, string>>;

/** How a run ended. */
export interface End {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `npm start` runs, in a process group of its own, as a terminal starts it. */
export class StartProcess {
  readonly ended: Promise<End>;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';

  constructor(variables: Place) {
    const { DATABASE_URL: _url, AUTH_JWT_SECRET: _secret, AUTH_JWKS_URL: _jwks, ...env } = process.env;
    this.#child = spawn(process.execPath, ['--import', 'tsx', 'services/dev/start.ts'], {
      cwd: root,
      env: { ...env, ...variables },
      detached: true,
      // The channel closes with this process, however it ends, and the run stops then.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#stdout += chunk.toString('utf8');
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => resolve({ code, stdout: this.#stdout, stderr: this.#stderr }));
    });
  }

  /** Resolves with what it printed until it was ready; rejects when it ends before. */
  ready(): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#stdout.includes('Ready. Ctrl-C stops everything.')) resolve(this.#stdout);
      };
      this.#child.stdout?.on('data', look);
      look();
      void this.ended.then(({ code, stderr }) => reject(new Error(`it ended with ${code}: ${stderr}`)));
    });
  }

  /** Sends the signal to the whole group, as a terminal does. */
  signalGroup(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
  }

  /** Sends the signal to the start process alone. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** Makes a data folder and finds free ports. */
export async function makePlace(): Promise<Place> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'start-test-'));
  const ports = await findFreePorts(portVariables.length);
  return {
    DATA_DIR: path.join(dataDir, 'data'),
    ...Object.fromEntries(portVariables.map((name, i) => [name, ports[i] ?? ''])),
  };
}

/** Removes the data folder. */
export async function removePlace({ DATA_DIR: dataDir }: Place): Promise<void> {
  if (dataDir) await rm(path.dirname(dataDir), { recursive: true, force: true });
}

/** The live process of a service, found by the port variable in its environment. */
export async function findService(name: string, { DATA_DIR: dataDir }: Place): Promise<number | undefined> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,args=']);
  for (const line of stdout.split('\n')) {
    const [, pid] = /^\s*(\d+) .*tsx.*\/services\/([a-z-]+)\/main\.ts/.exec(line) ?? [];
    if (pid === undefined || !line.includes(`/${name}/`)) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (environment.includes(`DATA_DIR=${dataDir}\0`)) return Number(pid);
  }
  return undefined;
}

/** The process id of the database server, while it runs. */
export async function findDatabase({ DATA_DIR: dataDir = '' }: Place): Promise<number | undefined> {
  const text = await readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n', 1)[0]);
  return pid > 0 && isAlive(pid) ? pid : undefined;
}

async function findFreePorts(count: number): Promise<string[]> {
  const ports = new Set<string>();
  while (ports.size < count) ports.add(String(await findFreePort()));
  return [...ports];
}

/** A run of `npm start` that tests share as long as none of them ends it: a start compiles four processes. */
export class SharedStart {
  readonly #place: Place;
  #running: StartProcess | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  /** The run of the tests before, or a new one. */
  async ready(): Promise<{ readonly started: StartProcess; readonly output: string }> {
    this.#running ??= new StartProcess(this.#place);
    return { started: this.#running, output: await this.#running.ready() };
  }

  /** How the run of the tests before comes to its end. */
  ended(started: StartProcess): Promise<End> {
    this.#running = undefined;
    return started.ended;
  }

  /** The ids of the processes of the run, but for the one that started the others. */
  async findAll(): Promise<number[]> {
    const services = ['slot-service', 'coupon-service', 'staff-console'];
    const places = services.map((name) => findService(name, this.#place));
    const found = await Promise.all([findDatabase(this.#place), ...places]);
    return found.filter((pid) => pid !== undefined);
  }

  async end(): Promise<void> {
    this.#running?.signal('SIGTERM');
    await this.#running?.ended;
  }
}
