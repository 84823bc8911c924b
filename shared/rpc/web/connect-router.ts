import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type Message,
} from '@bufbuild/protobuf';
import {
  type ConnectRouter,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import type { Logger } from 'pino';
import { jsonWriteOptions } from '../answers/response.ts';
import { CallContext } from '../call-context.ts';
import { executeStream, executeUnary, type Interceptors, type Rpc } from '../implementation.ts';
import { procedurePath } from '../procedure.ts';
import { boundedGzip, codecOf, readMessage, withoutMessage } from './connect-request.ts';
import { refuse } from './error-response.ts';
import type { WebHandler } from './port.ts';
import { WebCallSource } from './web-call.ts';

/**
 * Creates the handlers, by request path, that delegate the protocol to Connect: gRPC-Web, and the Connect calls that
 * connect-unary.ts does not handle. Their messages are read and decoded as there.
 */
export function createConnectRouterHandlers(
  rpcs: readonly Rpc[],
  interceptors: Interceptors,
  logger: Logger,
): ReadonlyMap<string, WebHandler> {
  return new Map(rpcs.map((rpc) => [procedurePath(rpc.method), createHandler(rpc, interceptors, logger)]));
}

/** Opens the call of a request once it has arrived. Rejects if the caller disconnects before. */
const openKey = createContextKey<() => Promise<CallContext>>(() => Promise.reject(new Error('there is no request')));

function createHandler(rpc: Rpc, interceptors: Interceptors, logger: Logger): WebHandler {
  const router = createConnectRouter({
    grpc: false,
    // Only gzip: at Node's default level, brotli would block all other calls for one large response.
    acceptCompression: [boundedGzip],
    jsonOptions: jsonWriteOptions,
  });
  mount(router, rpc, interceptors);
  const [handle] = router.handlers;
  if (handle === undefined) throw new Error(`${rpc.method.name} was not mounted`);
  return async (request, response, open) => {
    const { method = '', httpVersion } = request;
    const protocol = /^application\/grpc-web/.test(request.headers['content-type'] ?? '') ? 'grpc-web' : 'connect';
    const openCall = async () => {
      // Connect encodes answers itself, regardless of the client's codec.
      const source = new WebCallSource(rpc.method, protocol, 'proto', request, response);
      await source.receive(codecOf(request), readMessage(request, response, open));
      return new CallContext(source);
    };
    const answer = await handle({
      httpVersion,
      method,
      ...withoutMessage(request),
      // Calls see for themselves that their caller disconnects.
      signal: new AbortController().signal,
      contextValues: createContextValues().set(openKey, openCall),
    });
    if (answer.status === 405 || answer.status === 415) {
      return refuse(logger, request, response, answer.status, { allow: handle.allowedMethods.join(', ') });
    }
    try {
      await write(answer, response);
    } finally {
      // Discards the rest of a rejected request. Left unread, it would block the next request on the connection.
      request.resume();
    }
  };
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

function mount(router: ConnectRouter, rpc: Rpc, interceptors: Interceptors): void {
  const { method } = rpc;
  if (isServerStreaming(method)) {
    router.rpc(method, async function* (_empty, context) {
      const call = await context.values.get(openKey)();
      setHeaders(call, context);
      yield* stream(interceptors, call, rpc);
    });
  }
  if (!isUnary(method)) return;
  const execute = executeUnary(interceptors, rpc);
  router.rpc(method, async (_empty, context) => {
    const call = await context.values.get(openKey)();
    try {
      return fromBinary(method.output, await execute(call));
    } finally {
      setHeaders(call, context);
    }
  });
}

function setHeaders(call: CallContext, context: HandlerContext): void {
  for (const [name, value] of call.responseHeaders) context.responseHeader.set(name, value);
}

/** Yields a streaming procedure's messages one at a time, with backpressure. */
async function* stream(interceptors: Interceptors, call: CallContext, rpc: Rpc): AsyncGenerator<Message> {
  async function* answers() {
    for await (const response of rpc.stream(call.request, call))
      yield await response.toMessage({ subject: call.subject });
  }
  const messages = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const ended = executeStream(interceptors, rpc, () => pipeline(answers, messages))(call);
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
