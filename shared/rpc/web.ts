import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { cors as connectCors } from '@connectrpc/connect';
import cors from 'cors';
import type { Logger } from 'pino';
import { createConnectNodeHandlers } from './connect-node.ts';
import { createConnectUnaryHandler, readForm } from './connect-unary.ts';
import type { Implementation } from './implementation.ts';
import type { Interceptor } from './interceptors.ts';
import { maxConnections, slowestRequestMs } from './limits.ts';
import { RequestMemory } from './request-memory.ts';
import { HttpExchange, SlowCallers } from './slow-callers.ts';

export interface WebServer {
  readonly port: number;
  /** `/readyz` says 503; calls still work. */
  drain(): void;
  /** Ends once the calls in flight have ended. */
  stop(): Promise<void>;
  /** Ends at once. */
  kill(): void;
}

export interface WebOptions {
  readonly port: number;
  readonly corsOrigins: readonly string[];
  readonly logger: Logger;
  /** Whether calls would succeed now: the answer of `/readyz`. */
  isReady(): Promise<boolean>;
}

const serverOptions: ServerOptions = {
  // The URL of a query by GET is its whole request, and of one that is too long a browser is not told:
  // 431 comes before CORS. 64 KiB hold some 4,000 ids.
  maxHeaderSize: 64 * 1024,
  headersTimeout: 10_000,
  requestTimeout: slowestRequestMs,
  // How often Node looks for what is late.
  connectionsCheckingInterval: 5_000,
  // Longer than a load balancer keeps its own, which are 60 s for most: it must not send into one that closes.
  keepAliveTimeout: 65_000,
};
// Node drops those beyond without a word; browsers and proxies send some forty.
const maxHeaders = 200;

/** Answers one request; rejects when the answer could not be delivered. */
export type WebHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves Connect and gRPC-Web over HTTP/1.1, `/healthz` and `/readyz`, on a port (0 for a free one). */
export async function serveWeb(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  options: WebOptions,
): Promise<WebServer> {
  const slowCallers = new SlowCallers();
  const calls = createCallListener(implementations, interceptors, options.logger, slowCallers);
  const allowOrigin = cors({
    origin: [...options.corsOrigins],
    methods: [...connectCors.allowedMethods],
    allowedHeaders: [...connectCors.allowedHeaders, 'Authorization', 'Store-Request-Id', 'X-Request-Id'],
    exposedHeaders: [...connectCors.exposedHeaders, 'Store-Request-Id', 'X-Request-Id'],
    maxAge: 2 * 60 * 60,
  });
  let draining = false;

  async function answerHealth(path: string, response: ServerResponse): Promise<void> {
    const ok = path === '/healthz' || (!draining && (await options.isReady()));
    response.writeHead(ok ? 200 : 503, { 'content-type': 'text/plain', 'cache-control': 'no-store' });
    response.end(ok ? 'ok\n' : 'not ready\n');
  }

  const server = createServer(serverOptions, (request, response) => {
    const path = pathOf(request);
    if (path === '/healthz' || path === '/readyz') {
      answerHealth(path, response).catch(() => response.destroy());
      return;
    }
    // Only browsers have an origin.
    if (request.headers.origin === undefined) calls(request, response);
    else allowOrigin(request, response, () => calls(request, response));
  });
  server.maxConnections = maxConnections;
  server.maxHeadersCount = maxHeaders;
  server.once('close', () => slowCallers.close());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '0.0.0.0', resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    drain() {
      draining = true;
    },
    stop: () =>
      new Promise((resolve) => {
        // A connection that falls idle after the close would be kept for its keep-alive time.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
    kill: () => server.closeAllConnections(),
  };
}

/**
 * The listener for the paths of the procedures; every other path is 404. Connect's plain calls take a
 * path of their own, all else goes to connect-node.
 */
function createCallListener(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  logger: Logger,
  slowCallers: SlowCallers,
): RequestListener {
  const rpcs = implementations.flatMap((implementation) => implementation.rpcs);
  const memory = new RequestMemory();
  const byConnectNode = createConnectNodeHandlers(rpcs, interceptors, memory);
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

  function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const form = readForm(request);
    const unary = form && plainUnary.get(path);
    return unary ? unary(request, response, form) : (byConnectNode.get(path) ?? notFound)(request, response);
  }

  return (request, response) => {
    const exchange = new HttpExchange(response);
    slowCallers.add(exchange);
    response.once('close', () => slowCallers.delete(exchange));
    answer(request, response).catch((error: unknown) => {
      // The caller is gone, or the answer could not be written: nobody is left to tell.
      logger.debug({ err: error }, 'an answer was not delivered');
      response.destroy();
    });
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
