import type { DescService } from '@bufbuild/protobuf';
import type { Client, Transport } from '@connectrpc/connect';
import { type ConnectTransportOptions, createConnectTransport as createTransport } from '@connectrpc/connect-web';
import { sendKey } from './idempotency.ts';
import { createCancelingClient } from './streams.ts';
import { capTimeout } from './timeout.ts';
import { sendToken, type Token } from './token.ts';

/** The options of `@connectrpc/connect-web`, and a token. */
export interface ConnectOptions extends Omit<ConnectTransportOptions, 'interceptors' | 'defaultTimeoutMs'> {
  /** Sent with each call. A function is called for every call, so that it can renew the token. */
  readonly token?: Token | undefined;
  /**
   * The deadline of unary calls without their own `timeoutMs`, in milliseconds. The default is 10,000; 0 means none.
   */
  readonly defaultTimeoutMs?: number | undefined;
  /** Interceptors see each call with its token and key. One that calls `next` again sends the same key. */
  readonly interceptors?: ConnectTransportOptions['interceptors'] | undefined;
}

/**
 * Creates a transport for Connect clients over `fetch`, for browsers and Node. Calls fail with a
 * `ConnectError` and are not retried.
 *
 * @param services the services whose mutations carry an idempotency key.
 */
export function createConnectTransport(services: readonly DescService[], options: ConnectOptions): Transport {
  const { token, interceptors = [], defaultTimeoutMs = 10_000, ...others } = options;
  const { unary, stream } = createTransport({
    ...others,
    interceptors: [sendKey(services), ...(token === undefined ? [] : [sendToken(token)]), ...interceptors],
  });
  return {
    unary: (method, signal, timeoutMs = defaultTimeoutMs, ...call) =>
      unary(method, signal, capTimeout(timeoutMs), ...call),
    stream: (method, signal, timeoutMs = 0, ...call) => stream(method, signal, capTimeout(timeoutMs), ...call),
  };
}

/**
 * Creates a client of one service over Connect, with a method for each procedure. Mutations carry an `idempotency-key`,
 * taken from `headers` or generated.
 */
export function createConnectClient<Service extends DescService>(
  service: Service,
  options: ConnectOptions,
): Client<Service> {
  return createCancelingClient(service, createConnectTransport([service], options));
}
