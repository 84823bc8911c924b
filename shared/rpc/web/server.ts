import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cors as connectCors } from '@connectrpc/connect';
import cors from 'cors';
import type { Logger } from 'pino';
import type { CertificateFiles } from '../certificates.ts';
import type { Implementation } from '../implementation.ts';
import type { Interceptor } from '../interceptor.ts';
import { RequestMemory } from '../limits/request-memory.ts';
import { SlowClientGuard } from '../limits/slow-clients.ts';
import { createConnectRouterHandlers } from './connect-router.ts';
import { createConnectUnaryHandler, readForm } from './connect-unary.ts';
import { HttpRequestStream } from './http-request-stream.ts';
import {
  createHttpPort,
  createHttpsPort,
  type WebHandler,
  type WebListener,
  type WebRequest,
  type WebResponse,
} from './port.ts';

export interface WebServer {
  readonly port: number;
  /** `/readyz` says 503; calls still work, and each answer closes its connection. */
  drain(): void;
  /** Takes no more connections, and ends once the calls in flight have ended. */
  stop(): Promise<void>;
  /** Ends at once. */
  kill(): void;
}

export interface WebOptions {
  readonly host: string;
  readonly port: number;
  readonly corsOrigins: readonly string[];
  readonly logger: Logger;
  /** Undefined: cleartext. */
  readonly certificates: CertificateFiles | undefined;
  /** Whether calls would succeed now: the answer of `/readyz`. */
  isReady(): Promise<boolean>;
}

/**
 * Serves Connect and gRPC-Web, `/healthz` and `/readyz`, on a port (0 for a free one): over HTTP/1.1,
 * with certificates over HTTP/2 as well.
 */
export async function serveWeb(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  options: WebOptions,
): Promise<WebServer> {
  const slowClients = new SlowClientGuard();
  const calls = createCallListener(implementations, interceptors, options.logger, slowClients);
  const allowOrigin = cors({
    // No origin at all still answers a preflight, without the header that would allow it.
    origin: (origin, answer) => answer(null, isAllowed(origin, options.corsOrigins) ? origin : []),
    methods: [...connectCors.allowedMethods],
    allowedHeaders: [
      ...connectCors.allowedHeaders,
      'Authorization',
      'Store-Request-Id',
      'Traceparent',
      'Tracestate',
      'X-Request-Id',
    ],
    exposedHeaders: [...connectCors.exposedHeaders, 'Store-Request-Id', 'X-Request-Id'],
    maxAge: 2 * 60 * 60,
  });
  let draining = false;

  async function answerHealth(path: string, response: WebResponse): Promise<void> {
    const ok = path === '/healthz' || (!draining && (await options.isReady()));
    response.writeHead(ok ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
    response.end(ok ? 'ok\n' : 'not ready\n');
  }

  // A connection of HTTP/1.1 is left as it is told: one kept alive would be closed under its next call.
  const answering = new Map<Socket, ServerResponse>();
  const listener: WebListener = (request, response) => {
    if (response instanceof ServerResponse) {
      if (draining) response.shouldKeepAlive = false;
      answering.set(request.socket, response);
    }
    const path = pathOf(request);
    if (path === '/healthz' || path === '/readyz') {
      answerHealth(path, response).catch(() => response.destroy());
      return;
    }
    // Only browsers have an origin.
    if (request.headers.origin === undefined) calls(request, response);
    else allowOrigin(request, response, () => calls(request, response));
  };
  const { certificates } = options;
  const { server, stop, kill } =
    certificates === undefined ? createHttpPort(listener) : createHttpsPort(certificates, listener);
  for (const event of ['connection', 'secureConnection']) {
    server.on(event, (socket: Socket) => socket.once('close', () => answering.delete(socket)));
  }
  server.once('close', () => slowClients.close());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    drain() {
      draining = true;
      for (const response of answering.values()) response.shouldKeepAlive = false;
    },
    stop,
    kill,
  };
}

const anyPort = ':*';

/** Whether one of the entries is the origin, or the origin of every port where it ends in `:*`. */
function isAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    if (!entry.endsWith(anyPort) || !origin?.startsWith(entry.slice(0, -anyPort.length))) return origin === entry;
    return /^(?::\d+)?$/.test(origin.slice(entry.length - anyPort.length));
  });
}

/**
 * The listener for the paths of the procedures; every other path is 404. Connect's plain calls take a
 * path of their own, all else goes to connect-node.
 */
function createCallListener(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  logger: Logger,
  slowClients: SlowClientGuard,
): WebListener {
  const rpcs = implementations.flatMap((implementation) => implementation.rpcs);
  const memory = new RequestMemory();
  const byConnectRouter = createConnectRouterHandlers(rpcs, interceptors, memory);
  const plainUnary = new Map(
    rpcs
      .filter(({ method }) => method.methodKind === 'unary')
      .map((rpc) => [
        `/${rpc.method.parent.typeName}/${rpc.method.name}`,
        createConnectUnaryHandler(rpc, interceptors, memory),
      ]),
  );
  const notFound: WebHandler = async (_request, response) => {
    response.writeHead(404).end();
  };

  function answer(request: WebRequest, response: WebResponse): Promise<void> {
    const path = pathOf(request);
    const form = readForm(request);
    const unary = form && plainUnary.get(path);
    return unary ? unary(request, response, form) : (byConnectRouter.get(path) ?? notFound)(request, response);
  }

  return (request, response) => {
    const stream = new HttpRequestStream(request, response);
    if (!slowClients.add(stream)) return;
    response.once('close', () => slowClients.delete(stream));
    answer(request, response).catch((error: unknown) => {
      // The caller is gone, or the answer could not be written: nobody is left to tell.
      logger.debug({ err: error }, 'an answer was not delivered');
      response.destroy();
    });
  };
}

function pathOf({ url = '' }: WebRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
