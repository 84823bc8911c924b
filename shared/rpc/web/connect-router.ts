import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import { type ConnectRouter, createConnectRouter, type HandlerContext } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { type Codec, encodeMessage, jsonWriteOptions } from '../answers/encoding.ts';
import { CallContext } from '../call-context.ts';
import type { Rpc } from '../implementation.ts';
import { type Interceptor, intercept } from '../interceptor.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import { checkMessageBounds } from '../limits/message-bounds.ts';
import { procedurePath } from '../procedure-path.ts';
import { boundedGzip } from './compression.ts';
import { codecOf, readBoundedBody } from './connect-request.ts';
import { capTimeouts, hasTimeout, toCallSignal } from './deadlines.ts';
import { refuse } from './error-response.ts';
import type { WebHandler } from './port.ts';

/**
 * Creates the handlers, by request path, that delegate the protocol to Connect: gRPC-Web, and the Connect calls that
 * connect-unary.ts does not handle. A request that can't be decoded gets Connect's own error (design 3).
 */
export function createConnectRouterHandlers(
  rpcs: readonly Rpc[],
  interceptors: readonly Interceptor[],
  logger: Logger,
): ReadonlyMap<string, WebHandler> {
  return new Map(
    rpcs.map((rpc) => {
      const json = createHandler(rpc, 'json', interceptors, logger);
      const proto = createHandler(rpc, 'proto', interceptors, logger);
      const handler: WebHandler = (request, response, open) =>
        codecOf(request) === 'json' ? json(request, response, open) : proto(request, response, open);
      return [procedurePath(rpc.method), handler];
    }),
  );
}

/** Creates the handler of one procedure for one codec, because the bounds check depends on the codec. */
function createHandler(rpc: Rpc, codec: Codec, interceptors: readonly Interceptor[], logger: Logger): WebHandler {
  const checkBounds = (message: Uint8Array) => checkMessageBounds(codec, rpc.method.input, message);
  const router = createConnectRouter({
    grpc: false,
    readMaxBytes: maxMessageBytes,
    // Only gzip: at Node's default level, brotli takes 200 ms for one large response.
    acceptCompression: [boundedGzip(checkBounds)],
    // Unknown fields are refused (design 7).
    jsonOptions: { ...jsonWriteOptions, ignoreUnknownFields: false },
  });
  mount(router, rpc, interceptors);
  const [handle] = router.handlers;
  if (handle === undefined) throw new Error(`${rpc.method.name} was not mounted`);
  return async (request, response, open) => {
    const { method = '', url = '', httpVersion } = request;
    const header = headersOf(request);
    capTimeouts(header);
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const answer = await handle({
      httpVersion,
      method,
      url: new URL(url, 'http://localhost').href,
      header,
      body: readBoundedBody(request, open, checkBounds),
      signal: closed.signal,
    });
    if (answer.status === 405) {
      return refuse(logger, request, response, answer.status, { allow: handle.allowedMethods.join(', ') });
    }
    if (answer.status === 415) return refuse(logger, request, response, answer.status);
    try {
      await write(answer, response);
    } finally {
      // Discards the rest of a rejected request. Left unread, it would block the next request on the connection.
      request.resume();
    }
  };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return headers;
}

type Answer = Awaited<ReturnType<ConnectRouter['handlers'][number]>>;

/** Sends a handler's answer. Its headers are complete only once the first chunk arrives. */
async function write({ status, header, body }: Answer, response: ServerResponse): Promise<void> {
  const writeHead = () =>
    response.writeHead(status, { 'cache-control': 'no-store', ...Object.fromEntries(header ?? []) });
  async function* chunks() {
    for await (const chunk of body ?? []) {
      if (!response.headersSent) writeHead();
      yield chunk;
    }
    if (!response.headersSent) writeHead();
  }
  await pipeline(chunks, response);
}

function mount(router: ConnectRouter, rpc: Rpc, interceptors: readonly Interceptor[]): void {
  const { method } = rpc;
  if (isServerStreaming(method)) {
    router.rpc(method, (request, context) => {
      const call = open(rpc, request, context);
      setHeaders(call, context);
      return stream(interceptors, call, rpc);
    });
  }
  if (!isUnary(method)) return;
  const handle = intercept(interceptors, rpc, async (call) => {
    const response = await rpc.invoke(call.request, call);
    return response.toMessage(call);
  });
  router.rpc(method, async (request, context) => {
    const call = open(rpc, request, context);
    try {
      return await handle(call);
    } finally {
      setHeaders(call, context);
    }
  });
}

/** Creates the call of a request that Connect has decoded. */
function open({ method }: Rpc, request: Message, { protocolName, requestHeader, signal }: HandlerContext): CallContext {
  return new CallContext({
    method,
    protocol: protocolName === 'grpc-web' ? 'grpc-web' : 'connect',
    // Connect encodes messages itself, regardless of the client's codec.
    codec: 'proto',
    hasDeadline: hasTimeout(requestHeader),
    // Connect does not tell how large the message was.
    get requestBytes() {
      return encodeMessage(method.input, request).byteLength;
    },
    header: (name) => requestHeader.get(name) ?? undefined,
    openSignal: () => toCallSignal(signal),
    decode: () => request,
  });
}

function setHeaders(call: CallContext, context: HandlerContext): void {
  for (const [name, value] of call.responseHeaders) context.responseHeader.set(name, value);
}

/** Yields a streaming procedure's messages one at a time, with backpressure. */
async function* stream(interceptors: readonly Interceptor[], call: CallContext, rpc: Rpc): AsyncGenerator<Message> {
  async function* answers() {
    for await (const response of rpc.stream(call.request, call)) yield await response.toMessage(call);
  }
  const messages = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const ended = intercept(interceptors, rpc, () => pipeline(answers, messages))(call);
  // Ends the loop over the messages with the caller's error.
  ended.catch((error: Error) => messages.destroy(error));
  yield* messages;
  await ended;
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === 'server_streaming';
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === 'unary';
}
