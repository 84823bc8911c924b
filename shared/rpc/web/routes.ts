import type { Connections } from '../limits/connections.ts';
import { procedurePath } from '../procedure.ts';
import type { ServedCalls } from '../served-calls.ts';
import { createConnectRouterHandlers } from './connect-router.ts';
import { createConnectUnaryHandler, unaryCodecOf } from './connect-unary.ts';
import { refuse } from './error-response.ts';
import { HttpRequest, pathOf } from './http-request.ts';
import type { WebHandler, WebListener } from './port.ts';

/**
 * Creates the listener for the procedures' paths; it refuses any other path. Ordinary unary Connect calls take the fast
 * path, all others go through connect-node.
 */
export function createCallListener(
  { implementations, interceptors, requests, logger }: ServedCalls,
  connections: () => Connections,
): WebListener {
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

  return (request, response) => {
    const connection = connections().of(request.socket);
    if (connection === undefined) return void response.destroy();
    const open = new HttpRequest(requests, connection, request, response);
    response.once('close', () => requests.end(open));
    requests.begin(open, request.headers.authorization);
    handle(request, response, open).catch((error: unknown) => {
      // The caller has disconnected, or the response could not be written, so nobody can receive an error.
      logger.debug({ err: error }, 'an answer was not delivered');
      response.destroy();
    });
  };
}
