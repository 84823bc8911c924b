import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DescMethod, DescMethodServerStreaming, DescMethodUnary, Message } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';
import { CallSignal } from '../../cancellation/signal.ts';
import { commonErrors, fail, unreadableRequest } from '../../errors/errors.ts';
import {
  compressedFlag,
  readAllBytes,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from '../../internals/connect.ts';
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from '../../internals/connect-node.ts';
import type { Protocol } from '../../telemetry/call-metrics.ts';
import { CallContext } from '../call-context.ts';
import type { Rpc } from '../implementation.ts';
import { type Interceptor, intercept } from '../interceptor.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import { checkMessageBounds, type Form } from '../limits/message-bounds.ts';
import { MemoryReservation, type RequestMemory } from '../limits/request-memory.ts';
import { EncodedResponse, jsonWriteOptions } from '../protobuf/encoding.ts';
import { boundedGzip } from './compression.ts';
import { envelopeHeadBytes, once, readConnectError, writeConnectError } from './connect-errors.ts';
import type { WebHandler, WebRequest, WebResponse } from './port.ts';
import { capTimeouts } from './timeouts.ts';

/** Set once the implementation of a call runs: until then connect-node answers by itself. */
const progressKey = createContextKey<{ begun: boolean }>({ begun: false });

/**
 * Handlers by connect-node, by request path: of Connect all but what `ConnectUnaryHandler` takes, and
 * gRPC-Web.
 */
export function createConnectRouterHandlers(
  rpcs: readonly Rpc[],
  interceptors: readonly Interceptor[],
  memory: RequestMemory,
): ReadonlyMap<string, WebHandler> {
  return new Map(
    rpcs.map((rpc) => {
      const json = createHandler(rpc, 'json', interceptors, memory);
      const proto = createHandler(rpc, 'proto', interceptors, memory);
      const handler: WebHandler = (request, response) =>
        formOf(request) === 'json' ? json(request, response) : proto(request, response);
      return [`/${rpc.method.parent.typeName}/${rpc.method.name}`, handler];
    }),
  );
}

/** As connect-node finds it out, which has no place to look at a message before it decodes it. */
function formOf({ method, url = '', headers }: WebRequest): Form {
  const isJson =
    method === 'GET'
      ? new URL(url, 'http://localhost').searchParams.get('encoding') === 'json'
      : /json/i.test(headers['content-type'] ?? '');
  return isJson ? 'json' : 'proto';
}

/** A handler of one procedure's requests in one form. */
function createHandler(rpc: Rpc, form: Form, interceptors: readonly Interceptor[], memory: RequestMemory): WebHandler {
  const bound = (message: Uint8Array) => checkMessageBounds(form, rpc.method.input, message);
  const router = createConnectRouter({
    grpc: false,
    readMaxBytes: maxMessageBytes,
    // Brotli at Node's default costs 200 ms for one large answer.
    acceptCompression: [boundedGzip(bound)],
    jsonOptions: jsonWriteOptions,
  });
  mount(router, rpc, interceptors);
  const [handler] = router.handlers;
  if (handler === undefined) throw new Error(`${rpc.method.name} was not mounted`);
  return async (request, response) => {
    response.setHeader('cache-control', 'no-store');
    const progress = { begun: false };
    const values = createContextValues().set(progressKey, progress);
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    capTimeouts(universal.header);
    const requestBody = boundedBody(request, response, memory, bound);
    const given = await handler({ ...universal, body: requestBody });
    const chunks = (given.body ?? once(new Uint8Array()))[Symbol.asyncIterator]();
    // connect-node begins with the first chunk: only then it is known whether the call began.
    const first = await chunks.next();
    const body = joined(first, chunks);
    // What a refused request has left is thrown away, or the next one on its connection would wait behind it.
    const drain = () => request.resume();
    if (!progress.begun) requestBody.return().then(drain, drain);
    const answered = progress.begun
      ? { ...given, body }
      : await answerConnectError(
          rpc,
          interceptors,
          universal,
          given,
          await readAllBytes(body, Number.MAX_SAFE_INTEGER),
        );
    await universalResponseToNodeResponse(answered, response);
  };
}

/**
 * The body of a request, of which no more is read than there is memory for. It is passed on when its
 * message is known to be within its bounds; a compressed one is looked at once it is unpacked.
 */
async function* boundedBody(
  request: WebRequest,
  response: WebResponse,
  memory: RequestMemory,
  bound: (message: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  const encodings = ['content-encoding', 'connect-content-encoding', 'grpc-encoding'];
  const mayInflate = encodings.some((name) => (request.headers[name] ?? 'identity') !== 'identity');
  const reservation = new MemoryReservation(memory, mayInflate, request.rawHeaders);
  response.once('close', () => reservation.release());
  const isEnveloped = /^application\/(?:connect|grpc-web)\b/i.test(request.headers['content-type'] ?? '');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reservation.count(request.iterator({ destroyOnReturn: false }))) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxMessageBytes + envelopeHeadBytes) throw fail(commonErrors.messageTooLarge);
  }
  const body = Buffer.concat(chunks);
  // connect-node decodes each of several messages before it refuses them.
  if (isEnveloped && body.length > envelopeHeadBytes && body.length > envelopeHeadBytes + body.readUInt32BE(1)) {
    throw fail(commonErrors.invalidRequest, { params: { problem: 'The request has more than one message' } });
  }
  const isCompressed = isEnveloped ? ((body[0] ?? 0) & compressedFlag) !== 0 : mayInflate;
  if (!isCompressed) bound(isEnveloped ? body.subarray(envelopeHeadBytes) : body);
  yield body;
}

/** What was read of an answer, and the rest of it. */
async function* joined<Chunk>(first: IteratorResult<Chunk>, rest: AsyncIterator<Chunk>): AsyncIterable<Chunk> {
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
      header: (name) => context.requestHeader.get(name) ?? undefined,
      openSignal: () => openSignal(context.signal),
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
    const answer = await rpc.invoke(call.request, call);
    return answer instanceof EncodedResponse ? answer.toMessage() : answer;
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

/** The messages of a streaming procedure, each passed on when the one before was taken. */
async function* stream(interceptors: readonly Interceptor[], call: CallContext, rpc: Rpc): AsyncGenerator<Message> {
  const messages = new PassThrough({ objectMode: true, highWaterMark: 1 });
  const ended = intercept(interceptors, rpc, () => pipeline(rpc.stream(call.request, call), messages))(call);
  // Ends the reader below with the error that the caller gets.
  ended.catch((error: Error) => messages.destroy(error));
  yield* messages;
  await ended;
}

/** connect-node aborts with whatever ended the connection; a caller that left is one thing here. */
function openSignal(from: AbortSignal): CallSignal {
  const signal = new CallSignal();
  const abort = () =>
    signal.abort(() => {
      const late = ConnectError.from(from.reason).code === Code.DeadlineExceeded;
      return fail(late ? commonErrors.deadlineExceeded : commonErrors.canceled);
    });
  if (from.aborted) abort();
  else from.addEventListener('abort', abort, { once: true });
  return signal;
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === 'server_streaming';
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === 'unary';
}

/**
 * A request that connect-node refused goes through the interceptors all the same: it is logged, a
 * bad credential comes first, and the error gets its details.
 */
async function answerConnectError(
  rpc: Rpc,
  interceptors: readonly Interceptor[],
  request: UniversalServerRequest,
  given: UniversalServerResponse,
  body: Uint8Array,
): Promise<UniversalServerResponse> {
  const contentType = request.header.get('content-type') ?? '';
  const protocol: Protocol = contentType.startsWith('application/grpc-web') ? 'grpc-web' : 'connect';
  const form = { protocol, isStream: rpc.method.methodKind !== 'unary', contentType };
  const refusal = readConnectError(form, given, body);
  if (refusal === undefined) return { ...given, body: once(body) };
  const refuse = () => {
    // What it could not decode or unpack, connect-node calls an internal error.
    throw refusal.code === Code.Internal ? unreadableRequest(rpc.method, refusal) : refusal;
  };
  const call = new CallContext({
    method: rpc.method,
    protocol,
    header: (name) => request.header.get(name) ?? undefined,
    openSignal: () => openSignal(request.signal),
    decode: refuse,
  });
  const handle = intercept<UniversalServerResponse>(interceptors, rpc, async () => refuse());
  return handle(call).catch((error: ConnectError) => writeConnectError(form, error, call.responseHeaders));
}
