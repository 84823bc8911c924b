import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readdir, readFile, truncate } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../../services/dev/ports.ts';
import { testSecret } from '../support/tokens.ts';

/** A server under measurement, a process on a core of its own. */
export interface MeasuredServer {
  readonly name: string;
  readonly pid: number;
  readonly grpcPort: number;
  readonly webPort: number;
  /** Empties its log, which would fill the disk. */
  forgetLog(): Promise<void>;
  stop(): Promise<void>;
}

/** What a measured service is told, on ports of its own choice. */
export const environmentOf = (service: 'slot' | 'coupon', databaseUrl: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: databaseUrl,
  AUTH_JWT_SECRET: testSecret,
  // The load is one caller, and writes for minutes.
  STORED_MIB_PER_HOUR: '1000000',
  [`${service.toUpperCase()}_GRPC_PORT`]: '0',
  [`${service.toUpperCase()}_WEB_PORT`]: '0',
});

const running = new Set<ChildProcess>();
// However this process ends, none of them stays.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Kept until it ends, and ended with this process. */
export function track(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Starts a script on core 0, with its log in a file of `folder`, and waits for its line `serving`. */
export async function startServer(
  name: string,
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<MeasuredServer> {
  const log = path.join(folder, `${name}.log`);
  const child = spawnOn0([process.execPath, ...command], env, log);
  return serverOf(name, child, await untilServing(name, child, log), log);
}

/** Starts a command of the shell on core 0, tells it PORT and DATABASE_URL, and waits until it accepts connections. */
export async function startCommand(command: string, databaseUrl: string): Promise<MeasuredServer> {
  const grpcPort = await findFreePort();
  const env = { ...process.env, PORT: String(grpcPort), DATABASE_URL: databaseUrl };
  const child = spawnOn0(['sh', '-c', `exec ${command}`], env);
  while (!(await isListening(grpcPort))) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    await delay(50);
  }
  return serverOf(command, child, { grpcPort, webPort: 0 });
}

function spawnOn0(command: readonly string[], env: NodeJS.ProcessEnv, log?: string): ChildProcess {
  // Appending, because it is truncated meanwhile.
  const output = log === undefined ? 'ignore' : openSync(log, 'a');
  return track(spawn('taskset', ['-c', '0', ...command], { env, stdio: ['ignore', output, 'inherit'] }));
}

const serverOf = (
  name: string,
  child: ChildProcess,
  ports: Pick<MeasuredServer, 'grpcPort' | 'webPort'>,
  log?: string,
): MeasuredServer => ({
  ...{ name, pid: child.pid ?? 0, ...ports },
  forgetLog: async () => {
    if (log !== undefined) await truncate(log);
  },
  stop: () => end(child),
});

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

async function untilServing(name: string, child: ChildProcess, log: string) {
  for (let waited = 0; waited < 600; waited += 1) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`);
    const lines = (await readFile(log, 'utf8')).split('\n');
    const serving = lines.find((line) => line.includes('"msg":"serving"'));
    if (serving !== undefined) {
      const { grpcPort = 0, webPort = 0 }: { grpcPort?: number; webPort?: number } = JSON.parse(serving);
      return { grpcPort, webPort };
    }
    await delay(50);
  }
  throw new Error(`${name} did not start to serve`);
}

/** The script of a service, and the database that it uses. */
interface MeasuredMain {
  readonly script: string;
  readonly databaseUrl: string;
}

/**
 * Starts two scripts in one process on core 0, the second once the first serves. Two processes of the same
 * script differ by several per cent for as long as they run; in one process both have the same heap, the
 * same collections of garbage and the same neighbours.
 */
export async function startPair(
  name: string,
  mains: readonly [MeasuredMain, MeasuredMain],
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<[MeasuredServer, MeasuredServer]> {
  const [first, second] = mains.map(
    ({ script, databaseUrl }) =>
      `{ process.env.DATABASE_URL = ${JSON.stringify(databaseUrl)}; void import(${JSON.stringify(script)}); }`,
  );
  const log = path.join(folder, `${name}.log`);
  const program = `process.once('SIGUSR2', () => ${second}); ${first}`;
  const child = spawnOn0([process.execPath, '--eval', program], env, log);
  const started = async () => serverOf(name, child, await untilServing(name, child, log), log);
  const server = await started();
  await server.forgetLog();
  child.kill('SIGUSR2');
  return [server, await started()];
}

const microsecondsOfTick = 10_000;

/** The processor time of a server with all of its processes until now, in microseconds. */
export async function serverTime({ pid }: MeasuredServer): Promise<number> {
  return sumOf(await Promise.all([pid, ...(await childrenOf(pid))].map(processorTime)));
}

async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

const sumOf = (times: readonly number[]) => times.reduce((sum, time) => sum + time, 0);

async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // From the state on: the name before it may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * microsecondsOfTick;
}

/** The resident memory of a server, or the most that it has had, in MB. */
export async function memoryOf(
  { pid }: Pick<MeasuredServer, 'pid'>,
  field: 'VmRSS' | 'VmHWM' = 'VmRSS',
): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/** How long a core, or all of them together, has been busy until now, in microseconds. */
export async function busyTime(core: 'cpu0' | 'cpu'): Promise<number> {
  const [, counts = ''] = new RegExp(`^${core} +(.*)$`, 'm').exec(await readFile('/proc/stat', 'utf8')) ?? [];
  const [user = 0, nice = 0, system = 0, _idle, _wait, irq = 0, softIrq = 0, steal = 0] = counts.split(' ').map(Number);
  return (user + nice + system + irq + softIrq + steal) * microsecondsOfTick;
}

/** The same for a server of one process that is idle now, to the nanosecond and in microseconds. */
export async function threadTime({ pid }: MeasuredServer): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  return sumOf(await Promise.all(threads.map((thread) => scheduledTime(`${pid}/task/${thread}`))));
}

/**
 * Returns a clock of the processor time of a process's children, to the nanosecond and in microseconds. A child that has ended counts
 * with what it had when the clock was last read.
 */
export function childrenTime(pid: number): () => Promise<number> {
  const times = new Map<number, number>();
  return async () => {
    for (const child of await childrenOf(pid))
      times.set(child, await scheduledTime(String(child)).catch(() => times.get(child) ?? 0));
    return sumOf([...times.values()]);
  };
}

const scheduledTime = async (process: string) =>
  Number.parseInt(await readFile(`/proc/${process}/schedstat`, 'utf8'), 10) / 1000;
