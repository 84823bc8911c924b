import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient } from '@connectrpc/connect';
import type { ServiceName } from '../../shared/config/config.ts';
import { CouponService } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { SlotService } from '../../shared/gen/slot/v1/slot_service_pb.ts';
import { SlotStoreService } from '../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { createGrpcJsTransport } from './grpc-transport.ts';
import { programArguments } from './processes.ts';
import { signToken, testSecret, withToken } from './tokens.ts';

export interface ReplicaOptions {
  /** Unset: slot-service. */
  readonly service?: ServiceName;
  readonly databaseUrl: string;
  readonly redisUrl?: string | undefined;
  readonly refreshDelayMs?: number;
  /** The only core that its processes may use; unset: all. */
  readonly core?: number | undefined;
  /** The folder of the compiled program; unset: that of this run. */
  readonly programFolder?: string;
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

/** A service in a process of its own, or in several, on ports of its own. */
export class Replica {
  readonly log: LogLine[];
  readonly ports: ReplicaPorts;
  readonly pid: number;
  readonly databaseUrl: string;
  /** As staff user 1. */
  readonly slots: Client<typeof SlotService>;
  readonly stores: Client<typeof SlotStoreService>;
  readonly coupons: Client<typeof CouponService>;
  readonly #transport: ReturnType<typeof createGrpcJsTransport>;
  readonly #process: SpawnedProcess;
  readonly #options: ReplicaOptions;

  private constructor(process: SpawnedProcess, options: ReplicaOptions, ports: ReplicaPorts, token: string) {
    this.#process = process;
    this.#options = options;
    this.log = process.log;
    this.ports = ports;
    this.pid = process.pid;
    this.databaseUrl = options.databaseUrl;
    this.#transport = createGrpcJsTransport(`127.0.0.1:${ports.grpcPort}`);
    const transport = withToken(this.#transport, token);
    this.slots = createClient(SlotService, transport);
    this.stores = createClient(SlotStoreService, transport);
    this.coupons = createClient(CouponService, transport);
  }

  /**
   * Starts one, and resolves once it serves. Rejects with its output if it ends before.
   */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const process = new SpawnedProcess(options);
    const failed = process.ended.then(() =>
      Promise.reject<never>(new Error(`the replica did not start: ${process.stderr}`)),
    );
    const ports = await Promise.race([process.untilServing(), failed]);
    failed.catch(() => undefined);
    return new Replica(process, options, ports, await signToken({ staffId: 1 }));
  }

  /** Starts one that has ended again on its ports, and tries so while the database is away, as a supervisor does. */
  async startAgain(): Promise<Replica> {
    const { grpcPort: grpc, webPort: web } = this.ports;
    for (;;) {
      try {
        return await Replica.start({ ...this.#options, ports: { grpc, web } });
      } catch (error) {
        if (!/database|connect|read-only/i.test(String(error))) throw error;
      }
      await pause(100);
    }
  }

  /** Leaves its log unread, as a reader that has stalled does. */
  stallLog(): void {
    this.#process.lines?.pause();
  }

  /** Ends `stallLog`. */
  readLog(): void {
    this.#process.lines?.resume();
  }

  /** The number of lines with the message. */
  logged(msg: string): number {
    return this.log.filter((line) => line.msg === msg).length;
  }

  /** Ends it as `kill -9` does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks it to stop, and returns its exit code. */
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
  readonly lines: Interface | undefined;
  readonly log: LogLine[] = [];
  stderr = '';
  readonly #child: ChildProcess;

  constructor(options: ReplicaOptions) {
    const {
      databaseUrl,
      redisUrl,
      refreshDelayMs = 100,
      ports,
      service = 'slot',
      core,
      env: more,
      programFolder,
    } = options;
    const prefix = service.toUpperCase();
    const { REDIS_URL: _redis, AUTH_JWKS_URL: _jwks, LOG_LEVEL: _level, ...env } = process.env;
    delete env.OTEL_EXPORTER_OTLP_ENDPOINT;
    const program = [process.execPath, ...programArguments(`services/${service}-service/main.ts`, programFolder)];
    const [command = '', ...args] = core === undefined ? program : ['taskset', '-c', String(core), ...program];
    this.#child = spawn(command, args, {
      env: {
        ...env,
        DATABASE_URL: databaseUrl,
        AUTH_JWT_SECRET: testSecret,
        [`${prefix}_GRPC_PORT`]: String(ports?.grpc ?? 0),
        [`${prefix}_WEB_PORT`]: String(ports?.web ?? 0),
        STORE_REFRESH_DELAY_MS: String(refreshDelayMs),
        // One caller writes without an end.
        STORED_MIB_PER_HOUR: '1000000',
        ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
        ...more,
      },
      // The channel closes with this process, however it ends, and the service stops then.
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.lines = this.#child.stdout === null ? undefined : createInterface({ input: this.#child.stdout });
    this.lines?.on('line', (line) => this.log.push(JSON.parse(line)));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr += chunk.toString('utf8');
    });
    this.ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves with the ports once it has logged that it serves. */
  untilServing(): Promise<ReplicaPorts> {
    return new Promise((resolve) => {
      this.lines?.on('line', () => {
        const serving = this.log.find(({ msg }) => msg === 'serving');
        if (serving !== undefined) resolve({ grpcPort: Number(serving.grpcPort), webPort: Number(serving.webPort) });
      });
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}
