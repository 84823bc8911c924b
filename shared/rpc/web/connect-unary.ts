import { type DescMethod, fromBinary, fromJsonString, type Message } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, type ErrorRow, fail, unreadableRequest } from '../../errors/errors.ts';
import { codeToHttpStatus, errorToJsonBytes } from '../../internals/connect.ts';
import { CallContext, type CallSource } from '../call-context.ts';
import type { Rpc } from '../implementation.ts';
import { type Handle, type Interceptor, intercept } from '../interceptor.ts';
import { maxMessageBytes, maxTimerMs } from '../limits/limits.ts';
import { checkMessageBounds, type Form } from '../limits/message-bounds.ts';
import { MemoryReservation, type RequestMemory } from '../limits/request-memory.ts';
import { encode, encodeJson, jsonWriteOptions } from '../protobuf/encoding.ts';
import { gzipUnlessBusy } from './compression.ts';
import type { WebRequest, WebResponse } from './port.ts';

/**
 * The common form of a Connect call, straight on node:http: unary, by POST, not compressed. It does
 * what connect-node does without Request, Headers, streams and abort controllers, which take three
 * times as long as the rest of a short call. What has another form goes to connect-node.
 */

/** Answers one request; rejects when the answer could not be delivered. */
export type ConnectUnaryHandler = (request: WebRequest, response: WebResponse, form: Form) => Promise<void>;

const contentType = /^application\/(?:json(?:; ?charset=utf-?8)?|(proto))$/i;
const timeoutForm = /^\d{1,10}$/;
// As in connect-node: what is smaller does not gain by it.
const compressedFromBytes = 1024;

/** The form of a request that a handler of this file takes; undefined for every other one. */
export function readForm({ method, headers }: WebRequest): Form | undefined {
  const timeout = headers['connect-timeout-ms'];
  if (method !== 'POST' || (headers['content-encoding'] ?? 'identity') !== 'identity') return undefined;
  if (timeout !== undefined && !(typeof timeout === 'string' && timeoutForm.test(timeout))) return undefined;
  const match = contentType.exec(headers['content-type'] ?? '');
  if (match === null) return undefined;
  return match[1] === undefined ? 'json' : 'proto';
}

export function createConnectUnaryHandler(
  rpc: Rpc,
  interceptors: readonly Interceptor[],
  memory: RequestMemory,
): ConnectUnaryHandler {
  const { method } = rpc;
  const handles: Record<Form, Handle<Buffer | string>> = {
    json: intercept(interceptors, rpc, async (call) => encodeJson(method.output, await rpc.invoke(call.request, call))),
    proto: intercept(interceptors, rpc, async (call) => encode(method.output, await rpc.invoke(call.request, call))),
  };
  return async (request, response, form) => {
    const source = new ConnectCallSource(method, form, request, response);
    const reservation = new MemoryReservation(memory, false, request.rawHeaders);
    response.once('close', () => reservation.release());
    await source.readBody(reservation);
    const call = new CallContext(source);
    try {
      await send(request, response, 200, `application/${form}`, call, await handles[form](call));
    } catch (thrown) {
      if (!(thrown instanceof ConnectError)) throw thrown;
      await send(request, response, codeToHttpStatus(thrown.code), 'application/json', call, errorToJson(thrown));
    }
  };
}

const errorToJson = (error: ConnectError) => Buffer.from(errorToJsonBytes(error, jsonWriteOptions));

async function send(
  request: WebRequest,
  response: WebResponse,
  status: number,
  type: string,
  call: CallContext,
  content: Buffer | string,
): Promise<void> {
  const headers: Record<string, string | number> = { 'content-type': type, 'cache-control': 'no-store' };
  for (const [name, value] of call.responseHeaders) headers[name] = value;
  let body = content;
  if (body.length >= compressedFromBytes && takesGzip(request)) {
    const packed = await gzipUnlessBusy(body);
    if (packed !== undefined) headers['content-encoding'] = 'gzip';
    body = packed ?? body;
  }
  headers['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, headers).end(body);
}

function takesGzip({ headers }: WebRequest): boolean {
  const accepted = headers['accept-encoding'];
  return typeof accepted === 'string' && accepted.split(',').some((name) => name.trim() === 'gzip');
}

class ConnectCallSource implements CallSource {
  readonly method: DescMethod;
  readonly protocol = 'connect';
  readonly #form: Form;
  readonly #request: WebRequest;
  readonly #response: WebResponse;
  readonly #startMs = Date.now();
  #body: Buffer | undefined;
  #bodyError: ErrorRow | undefined;

  constructor(method: DescMethod, form: Form, request: WebRequest, response: WebResponse) {
    this.method = method;
    this.#form = form;
    this.#request = request;
    this.#response = response;
  }

  /** Reads all of the body, or as much as shows that it can't be taken. Rejects when the caller leaves. */
  readBody(reservation: MemoryReservation): Promise<void> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      if (!reservation.reserve(size)) {
        this.#bodyError = commonErrors.overloaded;
        resolve();
      }
      this.#request.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (this.#bodyError !== undefined) return;
        if (size <= maxMessageBytes && reservation.reserve(size)) {
          chunks.push(chunk);
          return;
        }
        this.#bodyError = size > maxMessageBytes ? commonErrors.messageTooLarge : commonErrors.overloaded;
        chunks.length = 0;
        resolve();
      });
      this.#request.on('end', () => {
        // HTTP/2 ends a request that was reset like a whole one.
        if (wasReset(this.#request)) return reject(new Error('the request was reset'));
        if (this.#bodyError === undefined) this.#body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
        resolve();
      });
      this.#request.on('error', reject);
    });
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  openSignal(): CallSignal {
    const signal = new CallSignal();
    const timeout = this.header('connect-timeout-ms');
    const timer = timeout === undefined ? undefined : this.#abortAfter(signal, Number(timeout));
    const leave = () => {
      clearTimeout(timer);
      signal.abort(() => fail(commonErrors.canceled));
    };
    if (isGone(this.#response)) leave();
    else this.#response.once('close', leave);
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
    checkMessageBounds(this.#form, this.method.input, this.#body);
    if (this.#form === 'json') return decodeJson(this.method, this.#body);
    try {
      return fromBinary(this.method.input, this.#body);
    } catch (cause) {
      throw unreadableRequest(this.method, cause);
    }
  }
}

/** Of a request whose answer has not begun: over HTTP/2, its stream is still open then. */
const wasReset = (request: WebRequest) => 'stream' in request && request.stream.closed;

const isGone = (response: WebResponse) => ('stream' in response ? response.stream.destroyed : response.destroyed);

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** JSON errors name the field at fault, so their text goes to the caller. */
function decodeJson({ input }: DescMethod, body: Buffer): Message {
  try {
    return fromJsonString(input, utf8.decode(body), { ignoreUnknownFields: true });
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw fail(commonErrors.invalidRequest, { params: { problem }, cause });
  }
}
