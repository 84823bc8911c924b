import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { createContextValues, type Transport } from '@connectrpc/connect';
import { type ChannelCredentials, type ChannelOptions, Client, credentials } from '@grpc/grpc-js';
import { procedurePath } from '../../shared/rpc/procedure.ts';
import { targetOf } from './addresses.ts';
import { sendKey } from './connect/idempotency.ts';
import { capTimeout } from './connect/timeout.ts';
import { sendToken, type Token } from './connect/token.ts';
import { runStreamingCall, runUnaryCall } from './internals.ts';
import { createChannelOptions } from './service-config.ts';
import { callStream } from './stream.ts';
import { continueTrace } from './trace.ts';
import { callUnary } from './unary.ts';

export interface GrpcOptions {
  /** The `host:port` of each server, or a single one whose name stands for all servers. */
  readonly addresses: readonly string[];
  /** Sent with each call. A function is called for every call, so that it can renew the token. */
  readonly token?: Token | undefined;
  /**
   * The deadline of unary calls without their own `timeoutMs`, in milliseconds. The default is 10,000; 0 means none.
   */
  readonly defaultTimeoutMs?: number | undefined;
  /** The default is cleartext. With several addresses, certificates are checked against the host of the first. */
  readonly credentials?: ChannelCredentials | undefined;
  /** grpc-js options, which override those that this client sets. */
  readonly channelOptions?: ChannelOptions | undefined;
}

export interface GrpcTransport extends Transport {
  /** Closes the connections once the calls in flight have ended. Later calls fail. */
  close(): void;
}

/**
 * Creates a transport for Connect clients over grpc-js, for unary and server-streaming calls. It connects at the first
 * call. Calls fail with a `ConnectError`. Throws a TypeError for invalid addresses.
 *
 * @param services the services whose calls are retried on UNAVAILABLE. Their mutations carry an idempotency key.
 */
export function createGrpcTransport(services: readonly DescService[], options: GrpcOptions): GrpcTransport {
  const { addresses, token, defaultTimeoutMs = 10_000 } = options;
  const client = new Client(targetOf(addresses), options.credentials ?? credentials.createInsecure(), {
    ...createChannelOptions(services),
    ...options.channelOptions,
  });
  const interceptors = [continueTrace, sendKey(services), ...(token === undefined ? [] : [sendToken(token)])];
  return {
    unary(method, signal, timeoutMs = defaultTimeoutMs, header, message, contextValues) {
      const { limits, deadline } = limitsOf(signal, timeoutMs);
      return runUnaryCall({
        ...limits,
        interceptors,
        req: { stream: false, ...requestOf(method, header, contextValues), method, message },
        next: (request) => callUnary(client, request, deadline),
      });
    },
    stream(method, signal, timeoutMs, header, message, contextValues) {
      const { limits, deadline } = limitsOf(signal, timeoutMs);
      return runStreamingCall({
        ...limits,
        interceptors,
        req: { stream: true, ...requestOf(method, header, contextValues), method, message },
        next: (request) => callStream(client, request, deadline),
      });
    },
    close: () => client.close(),
  };
}

/**
 * Returns a call's time limit in two forms: for Connect in this process, where the call may wait for a token first, and
 * as the deadline that grpc-js sends to the server.
 */
function limitsOf(signal: AbortSignal | undefined, wantedMs = 0) {
  const timeoutMs = capTimeout(wantedMs);
  const limits = { ...(signal === undefined ? {} : { signal }), ...(timeoutMs > 0 ? { timeoutMs } : {}) };
  return { limits, deadline: timeoutMs > 0 ? { deadline: Date.now() + timeoutMs } : {} };
}

function requestOf(
  method: DescMethod,
  header: ConstructorParameters<typeof Headers>[0],
  contextValues = createContextValues(),
) {
  return {
    service: method.parent,
    requestMethod: 'POST',
    url: procedurePath(method),
    header: new Headers(header),
    contextValues,
  };
}
