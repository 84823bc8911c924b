import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Connections } from '../limits/connections.ts';
import { procedurePath } from '../procedure-path.ts';
import type { ServedCalls } from '../served-calls.ts';
import { refuse } from './connect-errors.ts';
import { createConnectRouterHandlers } from './connect-router.ts';
import { createConnectUnaryHandler, unaryCodecOf } from './connect-unary.ts';
import { HttpRequest, pathOf } from './http-request.ts';
import type { WebHandler, WebListener, WebRequest } from './port.ts';

/**
 * Creates the listener for the paths of the procedures; any other path is refused. Ordinary unary calls of
 * Connect take the fast path, all others go through connect-node.
 */
export function createCallListener(
  { implementations, interceptors, requests, authenticator }: ServedCalls,
  logger: Logger,
  connections: () => Connections,
): WebListener {
  const rpcs = implementations.flatMap((implementation) => implementation.rpcs);
  const routerHandlers = createConnectRouterHandlers(rpcs, interceptors, authenticator, logger);
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

  return (request, response) => {
    const open = new HttpRequest(requests, request, response);
    response.once('close', () => requests.end(open));
    requests.begin(open, request.headers.authorization, connections().of(socketOf(request)));
    handle(request, response, open).catch((error: unknown) => {
      // The caller has disconnected, or the response could not be written: there is nobody to report to.
      logger.debug({ err: error }, 'an answer was not delivered');
      response.destroy();
    });
  };
}

/** The socket of a request. Over HTTP/2, the request has one of its own, without an address once it is reset. */
function socketOf(request: WebRequest): Socket {
  return 'stream' in request ? (request.stream.session?.socket ?? request.socket) : request.socket;
}
