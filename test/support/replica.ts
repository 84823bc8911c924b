import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';
import { programArguments } from './processes.ts';
import { signToken, testSecret } from './tokens.ts';

export interface ReplicaOptions {
  readonly databaseUrl: string;
  readonly redisUrl?: string | undefined;
  readonly refreshDelayMs?: number;
  /** How many processes share its ports. */
  readonly processes?: number;
  /** Unset: free ones. */
  readonly ports?: { readonly grpc: number; readonly web: number };
  /** Further variables. */
  readonly env?: Readonly<Record<string, string>>;
}

export type LogLine = Readonly<Record<string, unknown>>;

interface ReplicaPorts {
  readonly grpcPort: number;
  readonly webPort: number;
}

/** A slot-service in a process of its own, or in several, on ports of its own. */
export class Replica {
  readonly log: LogLine[] = [];
  readonly ports: ReplicaPorts;
  readonly pid: number;
  /** As staff user 1. */
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
  readonly #transport: ReturnType<typeof createGrpcJsTransport>;
  readonly #process: SpawnedProcess;

  private constructor(process: SpawnedProcess, ports: ReplicaPorts, log: LogLine[], token: string) {
    this.#process = process;
    this.log = log;
    this.ports = ports;
    this.pid = process.pid;
    this.#transport = createGrpcJsTransport(`127.0.0.1:${ports.grpcPort}`);
    const transport = withToken(this.#transport, token);
    this.slots = createClient(SlotService, transport);
    this.stores = createClient(SlotStoreService, transport);
  }

  /** Starts one; rejects with what it printed when it ends before it serves. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const process = new SpawnedProcess(options);
    const log: LogLine[] = [];
    const serving = new Promise<ReplicaPorts>((resolve) => {
      process.onLine((line) => {
        log.push(line);
        if (line.msg === 'serving') resolve({ grpcPort: Number(line.grpcPort), webPort: Number(line.webPort) });
      });
    });
    const failed = process.ended.then(() =>
      Promise.reject<ReplicaPorts>(new Error(`it did not start: ${process.stderr}`)),
    );
    const ports = await Promise.race([serving, failed]);
    failed.catch(() => undefined);
    return new Replica(process, ports, log, await signToken({ staffId: 1 }));
  }

  /** Leaves what it logs unread, as a reader does that has stalled. */
  stallLog(): void {
    this.#process.lines?.pause();
  }

  /** Reads on. */
  readLog(): void {
    this.#process.lines?.resume();
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
  readonly lines: Interface | undefined;
  stderr = '';

  constructor({ databaseUrl, redisUrl, refreshDelayMs = 100, processes = 1, ports, env: more }: ReplicaOptions) {
    const { REDIS_URL: _redis, AUTH_JWKS_URL: _jwks, LOG_LEVEL: _level, ...env } = process.env;
    delete env.OTEL_EXPORTER_OTLP_ENDPOINT;
    this.#child = spawn(process.execPath, programArguments('services/slot-service/main.ts'), {
      env: {
        ...env,
        DATABASE_URL: databaseUrl,
        AUTH_JWT_SECRET: testSecret,
        SLOT_GRPC_PORT: String(ports?.grpc ?? 0),
        SLOT_WEB_PORT: String(ports?.web ?? 0),
        PROCESSES: String(processes),
        STORE_REFRESH_DELAY_MS: String(refreshDelayMs),
        ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
        ...more,
      },
      // The channel closes with this process, however it ends, and the service stops then.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.lines = this.#child.stdout === null ? undefined : createInterface({ input: this.#child.stdout });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  onLine(listener: (line: LogLine) => void): void {
    this.lines?.on('line', (line) => listener(JSON.parse(line)));
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
