import type { Logger } from 'pino';
import type { Implementation } from '../implementation.ts';
import type { Interceptor } from '../interceptor.ts';
import { RequestMemory } from '../limits/request-memory.ts';
import type { SlowClientGuard } from '../limits/slow-clients.ts';
import { procedurePath } from '../procedure-path.ts';
import { createConnectRouterHandlers } from './connect-router.ts';
import { createConnectUnaryHandler, unaryCodecOf } from './connect-unary.ts';
import { HttpRequestStream } from './http-request-stream.ts';
import type { WebHandler, WebListener, WebRequest, WebResponse } from './port.ts';

/**
 * Creates the listener for the paths of the procedures; any other path is 404. Ordinary unary calls of
 * Connect take the fast path, all others go through connect-node.
 */
export function createCallListener(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
  logger: Logger,
  slowClients: SlowClientGuard,
): WebListener {
  const rpcs = implementations.flatMap((implementation) => implementation.rpcs);
  const memory = new RequestMemory();
  const routerHandlers = createConnectRouterHandlers(rpcs, interceptors, memory);
  const unaryRpcs = rpcs.filter(({ method }) => method.methodKind === 'unary');
  const unaryHandlers = new Map(
    unaryRpcs.map((rpc) => [procedurePath(rpc.method), createConnectUnaryHandler(rpc, interceptors, memory)]),
  );

  function handle(request: WebRequest, response: WebResponse): Promise<void> {
    const path = pathOf(request);
    const codec = unaryCodecOf(request);
    const handleUnary = codec && unaryHandlers.get(path);
    if (handleUnary) return handleUnary(request, response, codec);
    return (routerHandlers.get(path) ?? notFound)(request, response);
  }

  return (request, response) => {
    const stream = new HttpRequestStream(request, response);
    if (!slowClients.add(stream)) return;
    response.once('close', () => slowClients.delete(stream));
    handle(request, response).catch((error: unknown) => {
      // The caller has disconnected, or the response could not be written: there is nobody to report to.
      logger.debug({ err: error }, 'an answer was not delivered');
      response.destroy();
    });
  };
}

const notFound: WebHandler = async (_request, response) => {
  response.writeHead(404).end();
};

/** The path of a request, without its query. */
export function pathOf({ url = '' }: WebRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
