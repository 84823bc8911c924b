import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import { type CallOptions, type Client, Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { databaseErrors } from '../../shared/db/errors.ts';
import { ErrorInfoSchema } from '../../shared/gen/google/rpc/error_details_pb.ts';
import { createGrpcJsTransport } from '../support/grpc-transport.ts';
import { withToken } from '../support/tokens.ts';

/** Where a replica serves. */
export interface Ports {
  readonly grpcPort: number;
  readonly webPort: number;
}

/** A mutation that was answered: with its answer, or with an error that another attempt would get, too. */
export interface Answered {
  readonly key: string;
  readonly answer: unknown;
  readonly error: ConnectError | undefined;
  /** How often it was sent. */
  readonly attempts: number;
}

// What another attempt may change. A mutation that fails with another code has been judged.
const passing = [
  ...[Code.Unavailable, Code.DeadlineExceeded, Code.ResourceExhausted],
  ...[Code.Internal, Code.Unknown, Code.Canceled],
];
const waitMs = 25;

/**
 * A client of several replicas that sends each mutation with a key, again and again until it is answered, to one replica after
 * the other and over gRPC and Connect in turns. All attempts of a mutation have its key as their `x-request-id`.
 */
export class RetryingClient<Service extends DescService> {
  /** How often attempts failed and were made again, by code and reason. */
  readonly failures = new Map<string, number>();
  readonly #clients: readonly Client<Service>[];
  readonly #close: () => void;
  #next = 0;

  constructor(service: Service, replicas: readonly Ports[], token: string) {
    const grpc = replicas.map(({ grpcPort }) => createGrpcJsTransport(`127.0.0.1:${grpcPort}`));
    const connect = replicas.map(({ webPort }) =>
      createConnectTransport({ baseUrl: `http://127.0.0.1:${webPort}`, httpVersion: '1.1', useBinaryFormat: false }),
    );
    const transports: Transport[] = grpc.flatMap((transport, at) => [transport, connect[at] ?? transport]);
    this.#clients = transports.map((transport) => createClient(service, withToken(transport, token)));
    this.#close = () => {
      for (const transport of grpc) transport.close();
    };
  }

  /** Sends a mutation until it is answered. */
  async mutate(call: (client: Client<Service>, options: CallOptions) => Promise<unknown>): Promise<Answered> {
    const key = randomUUID();
    const options = { headers: { 'idempotency-key': key, 'x-request-id': key }, timeoutMs: 10_000 };
    for (let attempts = 1; ; attempts += 1) {
      const end = await this.#attempt((client) => call(client, options));
      if (end !== undefined) return { ...end, key, attempts };
      await pause(waitMs);
    }
  }

  /**
   * Sends a mutation without a key, once. Resolves with undefined if there was no answer, so that nobody knows whether it was
   * carried out.
   */
  async once(
    call: (client: Client<Service>, options: CallOptions) => Promise<unknown>,
    requestId: string,
  ): Promise<Answered | undefined> {
    const options = { headers: { 'x-request-id': requestId }, timeoutMs: 10_000 };
    const end = await this.#attempt((client) => call(client, options));
    return end && { ...end, key: requestId, attempts: 1 };
  }

  /** Sends a query until it is answered. */
  async query<Answer>(call: (client: Client<Service>) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const end = await this.#attempt(call);
      if (end?.error !== undefined) throw end.error;
      if (end !== undefined) return end.answer;
      await pause(waitMs);
    }
  }

  /** Makes a call once. Resolves with how it ended; with undefined if another attempt may end differently. */
  async #attempt<Answer>(
    call: (client: Client<Service>) => Promise<Answer>,
  ): Promise<{ answer: Answer; error: undefined } | { answer: undefined; error: ConnectError } | undefined> {
    try {
      return { answer: await call(this.#client()), error: undefined };
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      if (!isPassing(error)) return { answer: undefined, error };
      this.#count(error);
      return undefined;
    }
  }

  close(): void {
    this.#close();
  }

  #count(error: ConnectError): void {
    const name = `${Code[error.code]} ${error.findDetails(ErrorInfoSchema)[0]?.reason ?? 'without a reason'}`;
    this.failures.set(name, (this.failures.get(name) ?? 0) + 1);
  }

  #client(): Client<Service> {
    const client = this.#clients[this.#next % this.#clients.length];
    this.#next += 1;
    if (client === undefined) throw new Error('there are no replicas');
    return client;
  }
}

/** An error without an ErrorInfo comes from the client, whose connection was cut. */
function isPassing(error: ConnectError): boolean {
  const [info] = error.findDetails(ErrorInfoSchema);
  return info === undefined || info.reason === databaseErrors.conflict.reason || passing.includes(error.code);
}
