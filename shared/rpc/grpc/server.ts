import { once } from 'node:events';
import { type DescMethod, fromBinary, type Message } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import {
  logVerbosity,
  Metadata,
  type MethodDefinition,
  Server,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, fail, unreadableRequest } from '../../errors/errors.ts';
import { http2ServersOf } from '../../internals/grpc-js.ts';
import { CallContext, type CallSource } from '../call-context.ts';
import type { CertificateFiles } from '../certificates.ts';
import type { Implementation, Rpc } from '../implementation.ts';
import { type Interceptor, intercept } from '../interceptor.ts';
import { closeSilent, openConnections } from '../limits/connections.ts';
import { callsOfOneConnection, maxMessageBytes } from '../limits/limits.ts';
import { checkMessageBounds } from '../limits/message-bounds.ts';
import { encode, encodeMessage } from '../protobuf/encoding.ts';
import { createServerCredentials } from './credentials.ts';
import { LongLivedStreams } from './long-lived-streams.ts';
import { addReflection } from './reflection.ts';
import { encodeStatus } from './status.ts';
import { guardStreams } from './stream-guard.ts';

export interface GrpcServer {
  readonly port: number;
  /** Turns the health of every service to NOT_SERVING; calls still work. */
  drain(): void;
  /** Takes no more calls, and ends once those in flight have ended. */
  stop(): Promise<void>;
  /** Ends at once. */
  kill(): void;
}

/** The calls of grpc-js here: bytes in, bytes out, so that coding happens inside the chain. */
type BytesCall = ServerUnaryCall<Buffer, Buffer> | ServerWritableStream<Buffer, Buffer>;

/**
 * Serves native gRPC, with `grpc.health.v1` and reflection, on a port (0 for a free one): in cleartext,
 * or over TLS with certificates.
 * Rejects when the port can't be bound.
 */
export async function serveGrpc(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  { host, port }: { readonly host: string; readonly port: number },
  certificates: CertificateFiles | undefined,
  keepaliveMs = 20_000,
): Promise<GrpcServer> {
  // It would write a caller's garbled headers to stderr, the credential too.
  if (process.env.GRPC_VERBOSITY === undefined) setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    // Without, a connection that broke the protocol or flooded with resets, and was left by its peer,
    // stays open for ever: nghttp2 ends the session, and Node keeps its connection.
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs / 2,
    // To begin with: see StreamQuota.
    'grpc.max_concurrent_streams': callsOfOneConnection,
    // A client connects again at its next call.
    'grpc.max_connection_idle_ms': 5 * 60_000,
  });
  for (const implementation of implementations) mount(server, implementation, interceptors);
  const names = ['', ...implementations.map(({ service }) => service.typeName)];
  const health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'SERVING'])));
  const standing = new LongLivedStreams(server);
  health.addToServer(standing);
  addReflection(
    standing,
    implementations.map(({ service }) => service),
  );
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(
      `${host.includes(':') ? `[${host}]` : host}:${port}`,
      createServerCredentials(certificates),
      (error, boundPort) => (error ? reject(error) : resolve(boundPort)),
    );
  });
  const streaming = implementations.flatMap(({ rpcs }) => rpcs.filter(({ method }) => method.methodKind !== 'unary'));
  const connections = http2ServersOf(server).map((each) => openConnections(each, 'connection'));
  guardStreams(server, new Set(['/grpc.health.v1.Health/Watch', ...streaming.map(({ method }) => pathOf(method))]));
  return {
    port: bound,
    drain() {
      for (const name of names) health.setStatus(name, 'NOT_SERVING');
    },
    stop: () =>
      new Promise((resolve, reject) => {
        server.tryShutdown((error) => (error ? reject(error) : resolve()));
        standing.end();
        // Over TLS, such a one has not begun its handshake, which is waited for.
        for (const sockets of connections) closeSilent(sockets);
      }),
    kill: () => server.forceShutdown(),
  };
}

const pathOf = ({ parent, name }: DescMethod) => `/${parent.typeName}/${name}`;

function mount(server: Server, { rpcs }: Implementation, interceptors: readonly Interceptor[]): void {
  const definition: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const rpc of rpcs) {
    const { localName } = rpc.method;
    const asItIs = (bytes: Buffer) => bytes;
    definition[localName] = {
      path: pathOf(rpc.method),
      originalName: localName,
      requestStream: false,
      responseStream: rpc.method.methodKind === 'server_streaming',
      requestDeserialize: asItIs,
      requestSerialize: asItIs,
      responseDeserialize: asItIs,
      responseSerialize: asItIs,
    };
    handlers[localName] =
      rpc.method.methodKind === 'unary'
        ? createUnaryHandler(rpc, interceptors)
        : createStreamHandler(rpc, interceptors);
  }
  server.addService(definition, handlers);
}

function createUnaryHandler(rpc: Rpc, interceptors: readonly Interceptor[]) {
  const handle = intercept(interceptors, rpc, async (call) =>
    encode(rpc.method.output, await rpc.invoke(call.request, call)),
  );
  return (grpcCall: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) => {
    const call = new CallContext(new GrpcCallSource(rpc.method, grpcCall));
    handle(call).then(
      (answer) => {
        grpcCall.sendMetadata(toMetadata(call.responseHeaders));
        callback(null, answer);
      },
      (error: ConnectError) => callback(toStatus(error, call)),
    );
  };
}

function createStreamHandler(rpc: Rpc, interceptors: readonly Interceptor[]) {
  return (grpcCall: ServerWritableStream<Buffer, Buffer>) => {
    const call = new CallContext(new GrpcCallSource(rpc.method, grpcCall));
    const handle = intercept(interceptors, rpc, async () => {
      const request = call.request;
      const signal = call.signal.toAbortSignal();
      grpcCall.sendMetadata(toMetadata(call.responseHeaders));
      for await (const message of rpc.stream(request, call)) {
        if (grpcCall.write(encodeMessage(rpc.method.output, message))) continue;
        await once(grpcCall, 'drain', { signal }).catch((error: unknown) => {
          call.signal.throwIfAborted();
          throw error;
        });
      }
    });
    handle(call).then(
      () => grpcCall.end(),
      (error: ConnectError) => grpcCall.emit('error', toStatus(error, call)),
    );
  };
}

class GrpcCallSource implements CallSource {
  readonly method: DescMethod;
  readonly protocol = 'grpc';
  readonly #call: BytesCall;

  constructor(method: DescMethod, call: BytesCall) {
    this.method = method;
    this.#call = call;
  }

  /** A key that was sent more than once counts as its values with commas, as in HTTP. */
  header(name: string): string | undefined {
    const values = this.#call.metadata.get(name);
    return values.length < 2 ? values[0]?.toString() : values.join(', ');
  }

  openSignal(): CallSignal {
    const signal = new CallSignal();
    const call = this.#call;
    // grpc-js says that a call is canceled when its deadline has passed, and when it has ended, too.
    const abort = () =>
      signal.abort(() => {
        const late = Number(call.getDeadline()) <= Date.now();
        return fail(late ? commonErrors.deadlineExceeded : commonErrors.canceled);
      });
    if (call.cancelled) abort();
    else call.once('cancelled', abort);
    return signal;
  }

  decode(): Message {
    checkMessageBounds('proto', this.method.input, this.#call.request);
    try {
      return fromBinary(this.method.input, this.#call.request);
    } catch (cause) {
      throw unreadableRequest(this.method, cause);
    }
  }
}

function toStatus(error: ConnectError, call: CallContext) {
  const metadata = toMetadata(call.responseHeaders);
  metadata.set('grpc-status-details-bin', encodeStatus(error));
  return { code: Number(error.code), details: error.rawMessage, metadata };
}

function toMetadata(headers: ReadonlyMap<string, string>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.set(name, value);
  return metadata;
}
