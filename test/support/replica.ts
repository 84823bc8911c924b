import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';
import { signToken, testSecret } from './tokens.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface ReplicaOptions {
  readonly databaseUrl: string;
  readonly redisUrl?: string | undefined;
  readonly refreshDelayMs?: number;
  /** How many processes share its ports. */
  readonly processes?: number;
  /** Further variables. */
  readonly env?: Readonly<Record<string, string>>;
}

export type LogLine = Readonly<Record<string, unknown>>;

/** A slot-service in a process of its own, or in several, on ports of its own. */
export class Replica {
  readonly log: LogLine[] = [];
  /** As staff user 1. */
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
  readonly #transport: ReturnType<typeof createGrpcJsTransport>;
  readonly #process: SpawnedProcess;

  readonly grpcPort: number;
  readonly webPort: number;
  readonly pid: number;

  private constructor(process: SpawnedProcess, serving: LogLine, log: LogLine[], token: string) {
    this.#process = process;
    this.grpcPort = Number(serving.grpcPort);
    this.webPort = Number(serving.webPort);
    this.pid = Number(serving.pid);
    this.log = log;
    this.#transport = createGrpcJsTransport(`127.0.0.1:${this.grpcPort}`);
    const transport = withToken(this.#transport, token);
    this.slots = createClient(SlotService, transport);
    this.stores = createClient(SlotStoreService, transport);
  }

  /** Starts one; rejects with what it printed when it ends before it serves. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const process = new SpawnedProcess(options);
    const log: LogLine[] = [];
    const serving = new Promise<LogLine>((resolve) => {
      process.onLine((line) => {
        log.push(line);
        if (line.msg === 'serving') resolve(line);
      });
    });
    const failed = process.ended.then(() => Promise.reject<LogLine>(new Error(`it did not start: ${process.stderr}`)));
    const line = await Promise.race([serving, failed]);
    failed.catch(() => undefined);
    return new Replica(process, line, log, await signToken({ staffId: 1 }));
  }

  /** How often a line was logged. */
  logged(msg: string): number {
    return this.log.filter((line) => line.msg === msg).length;
  }

  /** Ends it as `kill -9` does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks it to stop, and gives its exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    this.#process.signal(signal);
    const code = await this.#process.ended;
    this.#transport.close();
    return code;
  }
}

class SpawnedProcess {
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  stderr = '';

  constructor({ databaseUrl, redisUrl, refreshDelayMs = 100, processes = 1, env: further = {} }: ReplicaOptions) {
    const { REDIS_URL: _redis, AUTH_JWKS_URL: _jwks, LOG_LEVEL: _level, ...env } = process.env;
    this.#child = spawn(process.execPath, ['--import', 'tsx', 'services/slot-service/main.ts'], {
      cwd: root,
      env: {
        ...env,
        DATABASE_URL: databaseUrl,
        AUTH_JWT_SECRET: testSecret,
        SLOT_GRPC_PORT: '0',
        SLOT_WEB_PORT: '0',
        PROCESSES: String(processes),
        STORE_REFRESH_DELAY_MS: String(refreshDelayMs),
        ...further,
        ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  onLine(listener: (line: LogLine) => void): void {
    if (this.#child.stdout === null) return;
    createInterface({ input: this.#child.stdout }).on('line', (line) => listener(JSON.parse(line)));
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** The transport with a bearer token on every call. */
export function withToken(transport: Transport, token: string): Transport {
  const authorize = (header: ConstructorParameters<typeof Headers>[0]) => {
    const headers = new Headers(header);
    headers.set('authorization', `Bearer ${token}`);
    return headers;
  };
  return {
    unary: (method, signal, timeoutMs, header, input, values) =>
      transport.unary(method, signal, timeoutMs, authorize(header), input, values),
    stream: (method, signal, timeoutMs, header, input, values) =>
      transport.stream(method, signal, timeoutMs, authorize(header), input, values),
  };
}
