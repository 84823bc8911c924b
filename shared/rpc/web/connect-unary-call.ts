import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, type ErrorRow, fail } from '../../errors/errors.ts';
import type { Codec } from '../answers/encoding.ts';
import type { CallSource } from '../call-context.ts';
import { decodeRequest } from '../decode-request.ts';
import { maxMessageBytes, maxTimerMs } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';

/** A unary Connect call, read directly from Node's request. */
export class ConnectUnaryCallSource implements CallSource {
  readonly method: DescMethod;
  readonly protocol = 'connect';
  readonly codec: Codec;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #startMs = Date.now();
  #body: Buffer | undefined;
  #bodyError: ErrorRow | undefined;

  constructor(method: DescMethod, codec: Codec, request: IncomingMessage, response: ServerResponse) {
    this.method = method;
    this.codec = codec;
    this.#request = request;
    this.#response = response;
  }

  /**
   * Reads the body to its end, or until it is too large. Stores size errors for `decode`, so that they pass through the
   * interceptors. Rejects if the caller disconnects.
   */
  readBody(open: OpenRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      if (!open.reserve(size)) {
        this.#bodyError = commonErrors.tooManyRequestBytes;
        resolve();
      }
      this.#request.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (this.#bodyError !== undefined) return;
        if (size <= maxMessageBytes && open.reserve(size)) {
          chunks.push(chunk);
          return;
        }
        this.#bodyError = size > maxMessageBytes ? commonErrors.messageTooLarge : commonErrors.tooManyRequestBytes;
        chunks.length = 0;
        resolve();
      });
      this.#request.on('end', () => {
        if (this.#bodyError === undefined) this.#body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
        resolve();
      });
      this.#request.on('error', reject);
    });
  }

  get hasDeadline(): boolean {
    return this.#request.headers['connect-timeout-ms'] !== undefined;
  }

  get requestBytes(): number {
    return this.#body?.byteLength ?? 0;
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  openSignal(): CallSignal {
    const signal = new CallSignal();
    const timeout = this.header('connect-timeout-ms');
    const timer = timeout === undefined ? undefined : this.#abortAfter(signal, Number(timeout));
    const cancel = () => {
      clearTimeout(timer);
      signal.abort(() => fail(commonErrors.canceled));
    };
    if (this.#response.destroyed) cancel();
    else this.#response.once('close', cancel);
    return signal;
  }

  #abortAfter(signal: CallSignal, timeoutMs: number): NodeJS.Timeout | undefined {
    const leftMs = this.#startMs + timeoutMs - Date.now();
    const abort = () => signal.abort(() => fail(commonErrors.deadlineExceeded));
    if (leftMs > 0) return setTimeout(abort, Math.min(leftMs, maxTimerMs));
    abort();
    return undefined;
  }

  decode(): Message {
    if (this.#body === undefined) throw fail(this.#bodyError ?? commonErrors.internal);
    return decodeRequest(this.method, this.codec, this.#body);
  }
}
