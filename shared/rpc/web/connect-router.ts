import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import {
  type ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator.ts';
import { toPublicError } from '../../errors/errors.ts';
import { readAllBytes } from '../../internals/connect.ts';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '../../internals/connect-node.ts';
import { CallContext } from '../call-context.ts';
import type { Rpc } from '../implementation.ts';
import { type Interceptor, intercept } from '../interceptor.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import { checkMessageBounds } from '../limits/message-bounds.ts';
import { procedurePath } from '../procedure-path.ts';
import { type Codec, EncodedResponse, jsonWriteOptions } from '../protobuf/encoding.ts';
import { boundedGzip } from './compression.ts';
import { interceptError, refuse, rejectCall, singleChunk } from './connect-errors.ts';
import { codecOf, readBoundedBody } from './connect-request.ts';
import { capTimeouts, hasTimeout, toCallSignal } from './deadlines.ts';
import type { WebHandler } from './port.ts';

/** Set once connect-node has called our implementation. A response before that is an error of its own. */
const progressKey = createContextKey<{ begun: boolean }>({ begun: false });

/**
 * Creates the handlers, by request path, that leave the protocol to connect-node: gRPC-Web, and all of
 * Connect but the calls that connect-unary.ts takes.
 */
export function createConnectRouterHandlers(
  rpcs: readonly Rpc[],
  interceptors: readonly Interceptor[],
  authenticator: Authenticator,
  logger: Logger,
): ReadonlyMap<string, WebHandler> {
  return new Map(
    rpcs.map((rpc) => {
      const json = createHandler(rpc, 'json', interceptors, authenticator, logger);
      const proto = createHandler(rpc, 'proto', interceptors, authenticator, logger);
      const handler: WebHandler = (request, response, open) =>
        codecOf(request) === 'json' ? json(request, response, open) : proto(request, response, open);
      return [procedurePath(rpc.method), handler];
    }),
  );
}

/** A handler for one procedure and one codec: the check of a message's bounds depends on the codec. */
function createHandler(
  rpc: Rpc,
  codec: Codec,
  interceptors: readonly Interceptor[],
  authenticator: Authenticator,
  logger: Logger,
): WebHandler {
  const checkBounds = (message: Uint8Array) => checkMessageBounds(codec, rpc.method.input, message);
  const router = createConnectRouter({
    grpc: false,
    readMaxBytes: maxMessageBytes,
    // Only gzip: at Node's default, brotli takes 200 ms for one large response.
    acceptCompression: [boundedGzip(checkBounds)],
    // Unknown fields are refused (design 7).
    jsonOptions: { ...jsonWriteOptions, ignoreUnknownFields: false },
  });
  mount(router, rpc, interceptors);
  const [handler] = router.handlers;
  if (handler === undefined) throw new Error(`${rpc.method.name} was not mounted`);
  return async (request, response, open) => {
    response.setHeader('cache-control', 'no-store');
    const progress = { begun: false };
    const values = createContextValues().set(progressKey, progress);
    const connectRequest = universalRequestFromNodeRequest(request, response, undefined, values);
    capTimeouts(connectRequest.header);
    // connect-node decodes a request before any interceptor runs, unless its HTTP method is none of a call.
    const isDecoded = handler.allowedMethods.includes(connectRequest.method);
    const refusal = isDecoded ? await refusalOf(authenticator, request.headers.authorization) : undefined;
    if (refusal !== undefined) {
      request.resume();
      const rejected = await rejectCall(rpc, interceptors, connectRequest, refusal);
      return universalResponseToNodeResponse(rejected, response);
    }
    const requestBody = readBoundedBody(request, open, checkBounds);
    const connectResponse = await handler({ ...connectRequest, body: requestBody });
    const chunks = (connectResponse.body ?? singleChunk(new Uint8Array()))[Symbol.asyncIterator]();
    // connect-node calls the implementation only when the first chunk is asked for.
    const first = await chunks.next();
    const body = rejoin(first, chunks);
    if (progress.begun) {
      await universalResponseToNodeResponse({ ...connectResponse, body }, response);
      return;
    }
    // Discards the rest of a rejected request: unread, it would block the next one on the connection.
    const drain = () => request.resume();
    requestBody.return().then(drain, drain);
    // The method of HTTP, or the content type, is none of this procedure.
    const { status } = connectResponse;
    if (status === 405) return refuse(logger, request, response, status, { allow: handler.allowedMethods.join(', ') });
    if (status === 415) return refuse(logger, request, response, status);
    const content = await readAllBytes(body, Number.MAX_SAFE_INTEGER);
    const intercepted = await interceptError(rpc, interceptors, connectRequest, connectResponse, content);
    await universalResponseToNodeResponse(intercepted, response);
  };
}

/** The error of a credential that is not good; undefined for a good one. */
function refusalOf(authenticator: Authenticator, authorization: string | undefined): Promise<ConnectError | undefined> {
  return authenticator.authenticate(authorization).then(() => undefined, toPublicError);
}

/** Puts the first chunk, which was read already, back before the rest. */
async function* rejoin<Chunk>(first: IteratorResult<Chunk>, rest: AsyncIterator<Chunk>): AsyncIterable<Chunk> {
  try {
    for (let chunk = first; !chunk.done; chunk = await rest.next()) yield chunk.value;
  } finally {
    await rest.return?.();
  }
}

function mount(router: ReturnType<typeof createConnectRouter>, rpc: Rpc, interceptors: readonly Interceptor[]): void {
  const { method } = rpc;
  const begin = (request: Message, context: HandlerContext) => {
    context.values.get(progressKey).begun = true;
    return new CallContext({
      method,
      protocol: context.protocolName === 'grpc-web' ? 'grpc-web' : 'connect',
      // connect-node encodes messages, whatever the client takes.
      codec: 'proto',
      hasDeadline: hasTimeout(context.requestHeader),
      header: (name) => context.requestHeader.get(name) ?? undefined,
      openSignal: () => toCallSignal(context.signal),
      decode: () => request,
    });
  };
  if (isServerStreaming(method)) {
    router.rpc(method, (request, context) => {
      const call = begin(request, context);
      setHeaders(call, context);
      return stream(interceptors, call, rpc);
    });
  }
  if (!isUnary(method)) return;
  const handle = intercept(interceptors, rpc, async (call) => {
    const response = await rpc.invoke(call.request, call);
    return response instanceof EncodedResponse ? response.toMessage(call) : response;
  });
  router.rpc(method, async (request, context) => {
    const call = begin(request, context);
    try {
      return await handle(call);
    } finally {
      setHeaders(call, context);
    }
  });
}

function setHeaders(call: CallContext, context: HandlerContext): void {
  for (const [name, value] of call.responseHeaders) context.responseHeader.set(name, value);
}

/** The messages of a streaming procedure, with backpressure: one at a time. */
async function* stream(interceptors: readonly Interceptor[], call: CallContext, rpc: Rpc): AsyncGenerator<Message> {
  const messages = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const ended = intercept(interceptors, rpc, () => pipeline(rpc.stream(call.request, call), messages))(call);
  // Ends the loop over the messages with the error that the caller gets.
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
