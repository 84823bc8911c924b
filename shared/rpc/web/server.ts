import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { cors as connectCors } from '@connectrpc/connect';
import cors from 'cors';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import type { RunningServer, ServedCalls } from '../implementation.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import { procedurePath } from '../procedure.ts';
import { createConnectRouterHandlers } from './connect-router.ts';
import { acceptsGzip, createConnectUnaryHandler, unaryCodecOf } from './connect-unary.ts';
import { withoutParameters } from './content-type.ts';
import { refuse } from './error-response.ts';
import { HttpRequest, pathOf } from './http-request.ts';
import { Pipeline } from './pipeline.ts';
import { createPort, type WebHandler, type WebListener } from './port.ts';

export interface WebOptions {
  readonly host: string;
  readonly port: number;
  /** An entry that ends in `:*` allows every port of its origin. */
  readonly corsOrigins: readonly string[];
  /** Undefined for cleartext. */
  readonly certificates: CertificateFiles | undefined;
  /** The OpenAPI document of the procedures, as JSON. */
  readonly openApi: Buffer;
  /** Whether calls would succeed now, for `/readyz`. */
  isReady(): boolean;
}

/**
 * Serves Connect and gRPC-Web, `/healthz`, `/readyz` and `/openapi.json` over HTTP/1.1 on a port (0 for a free one), in
 * cleartext or, with certificates, over TLS. Rejects if the port can't be bound.
 */
export async function serveWeb(calls: ServedCalls, options: WebOptions): Promise<RunningServer> {
  const { requests } = calls;
  const handleCall = createCallHandler(calls);
  const allowOrigin = createCors(options.corsOrigins);
  let draining = false;

  function answerHealth(path: string, response: ServerResponse): void {
    const ok = path === '/healthz' || (!draining && options.isReady());
    response.writeHead(ok ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
    response.end(ok ? 'ok\n' : 'not ready\n');
  }

  const compressed = gzipSync(options.openApi);
  function answerOpenApi(request: IncomingMessage, response: ServerResponse): void {
    const isCompressed = acceptsGzip(request);
    if (isCompressed) response.setHeader('content-encoding', 'gzip');
    response.writeHead(200, {
      'content-type': 'application/json',
      vary: 'accept-encoding',
      'cache-control': 'no-cache',
    });
    response.end(isCompressed ? compressed : options.openApi);
  }

  function answer(request: IncomingMessage, response: ServerResponse, open: OpenRequest): void {
    const path = pathOf(request);
    if (path === '/healthz' || path === '/readyz') {
      answerHealth(path, response);
      return;
    }
    const isOfDocument = path === '/openapi.json' && request.method === 'GET';
    const handle = isOfDocument ? answerOpenApi : handleCall;
    // Only browsers send an Origin header.
    if (request.headers.origin === undefined) handle(request, response, open);
    else allowOrigin(request, response, () => handle(request, response, open));
  }

  const pipelines = new Map<Socket, Pipeline>();
  const listener: WebListener = (request, response) => {
    const { socket } = request;
    const connection = webPort.connections.of(socket);
    // The rest of what came before the connection was closed.
    if (connection === undefined || socket.destroyed) return void response.destroy();
    if (draining) response.shouldKeepAlive = false;
    const open = new HttpRequest(requests, connection, request, response);
    requests.begin(open, request.headers.authorization);
    pipelines.get(socket)?.add({
      response,
      begin: () => answer(request, response, open),
      end: () => requests.end(open),
    });
  };
  const webPort = createPort(options.certificates, listener);
  const { server, stop, kill } = webPort;
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => {
      pipelines.set(socket, new Pipeline(socket));
      socket.once('close', () => pipelines.delete(socket));
    });
  }
  return {
    port: await listen(server, options),
    // `/readyz` answers 503, and responses have `Connection: close`, so that clients don't send their next call into a
    // closing socket.
    drain() {
      draining = true;
      for (const { lastResponse } of pipelines.values()) if (lastResponse) lastResponse.shouldKeepAlive = false;
    },
    stop,
    kill,
  };
}

function createCors(origins: readonly string[]) {
  return cors({
    // With an empty list, a preflight is still answered, but without the header that allows the origin.
    origin: (origin, callback) => callback(null, isAllowed(origin, origins) ? origin : []),
    methods: [...connectCors.allowedMethods],
    allowedHeaders: [
      ...connectCors.allowedHeaders,
      'Authorization',
      'Idempotency-Key',
      'Store-Request-Id',
      'Traceparent',
      'Tracestate',
      'X-Request-Id',
    ],
    exposedHeaders: [
      ...connectCors.exposedHeaders,
      // A page tells by it that its own clock is off.
      'Date',
      'Idempotency-Key',
      'Idempotent-Replayed',
      'Retry-After',
      'Store-Request-Id',
      'Traceparent',
      'WWW-Authenticate',
      'X-Request-Id',
    ],
    maxAge: 2 * 60 * 60,
  });
}

const anyPort = ':*';

/** Whether an entry equals the origin, or ends in `:*` and equals the origin without its port. */
function isAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    if (!entry.endsWith(anyPort) || !origin?.startsWith(entry.slice(0, -anyPort.length))) return origin === entry;
    return /^(?::\d+)?$/.test(origin.slice(entry.length - anyPort.length));
  });
}

/** Resolves with the port once the server listens. */
async function listen(server: Server, { host, port }: WebOptions): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

/**
 * Creates the handler for the procedures' paths; it refuses any other path. Ordinary unary Connect calls take the fast
 * path, all others go through connect-node.
 */
function createCallHandler({ implementations, interceptors, logger }: ServedCalls) {
  const rpcs = implementations.flatMap((implementation) => implementation.rpcs);
  const routerHandlers = createConnectRouterHandlers(rpcs, interceptors, logger);
  const unaryRpcs = rpcs.filter(({ method }) => method.methodKind === 'unary');
  const unaryHandlers = new Map(
    unaryRpcs.map((rpc) => [procedurePath(rpc.method), createConnectUnaryHandler(rpc, interceptors)]),
  );

  const handle: WebHandler = (request, response, open) => {
    const path = pathOf(request);
    const codec = unaryCodecOf(request);
    const handleUnary = codec && unaryHandlers.get(path);
    if (handleUnary) return handleUnary(request, response, open, codec);
    const handleOther = routerHandlers.get(path);
    return handleOther ? handleOther(request, response, open) : refuse(logger, request, response, 404);
  };

  return (request: IncomingMessage, response: ServerResponse, open: OpenRequest): void => {
    const { headers } = request;
    if (headers['content-type']) headers['content-type'] = withoutParameters(headers['content-type']);
    handle(request, response, open).catch((error: unknown) => {
      // The caller has disconnected, or the response could not be written, so nobody can receive an error.
      logger.debug({ err: error }, 'an answer was not delivered');
      response.destroy();
    });
  };
}
