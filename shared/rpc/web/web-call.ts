import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, fail, invalidRequest, toPublicError } from '../../errors/errors.ts';
import type { Codec } from '../answers/response.ts';
import type { CallSource } from '../call-context.ts';
import { decodeRequest } from '../decode-request.ts';
import { grpcTimeoutMs } from '../limits/grpc-wire.ts';
import { maxTimerMs } from '../limits/limits.ts';

const connectTimeout = /^\d{1,10}$/;

/** A call on the web port, read directly from Node's request. */
export class WebCallSource implements CallSource {
  readonly method: DescMethod;
  readonly protocol: 'connect' | 'grpc-web';
  readonly codec: Codec;
  requestBytes = 0;
  requestCodec: Codec = 'proto';
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #startMs = Date.now();
  /** Infinite without a timeout, NaN for a malformed one. */
  readonly #timeoutMs: number;
  decode = (): Message => {
    throw fail(commonErrors.internal);
  };

  constructor(
    method: DescMethod,
    protocol: 'connect' | 'grpc-web',
    codec: Codec,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    this.method = method;
    this.protocol = protocol;
    this.codec = codec;
    this.#request = request;
    this.#response = response;
    const timeout = this.header(protocol === 'connect' ? 'connect-timeout-ms' : 'grpc-timeout');
    if (timeout === undefined) this.#timeoutMs = Number.POSITIVE_INFINITY;
    else if (protocol === 'grpc-web') this.#timeoutMs = grpcTimeoutMs(timeout);
    else this.#timeoutMs = connectTimeout.test(timeout) ? Number(timeout) : Number.NaN;
  }

  /**
   * Waits for the bytes of the request's message. What is wrong with them, or with the timeout, `decode` throws, so
   * that it passes through the interceptors. Rejects if the caller disconnects.
   */
  async receive(codec: Codec, message: Promise<Uint8Array>): Promise<void> {
    this.requestCodec = codec;
    try {
      const bytes = await message;
      this.requestBytes = bytes.byteLength;
      if (Number.isNaN(this.#timeoutMs)) throw invalidRequest('The timeout is malformed');
      this.decode = () => decodeRequest(this.method, codec, bytes);
    } catch (error) {
      if (this.#request.errored) throw error;
      const shown = toPublicError(error);
      this.decode = () => {
        throw shown.code === Code.Internal ? invalidRequest('The request can not be decoded', { cause: error }) : shown;
      };
    }
  }

  get hasDeadline(): boolean {
    return this.#timeoutMs !== Number.POSITIVE_INFINITY;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  openSignal(): CallSignal {
    const signal = new CallSignal();
    const timer = this.#timeoutMs < Number.POSITIVE_INFINITY ? this.#abortAfterTimeout(signal) : undefined;
    const cancel = () => {
      clearTimeout(timer);
      signal.abort(() => fail(commonErrors.canceled));
    };
    if (this.#response.destroyed) cancel();
    else this.#response.once('close', cancel);
    return signal;
  }

  #abortAfterTimeout(signal: CallSignal): NodeJS.Timeout | undefined {
    const leftMs = this.#startMs + this.#timeoutMs - Date.now();
    const abort = () => signal.abort(() => fail(commonErrors.deadlineExceeded));
    if (leftMs > 0) return setTimeout(abort, Math.min(leftMs, maxTimerMs));
    abort();
    return undefined;
  }
}
