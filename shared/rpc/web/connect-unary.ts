import type { IncomingMessage, ServerResponse } from 'node:http';
import { ConnectError } from '@connectrpc/connect';
import type { Codec } from '../answers/response.ts';
import { CallContext } from '../call-context.ts';
import { executeUnary, type Interceptors, type Rpc } from '../implementation.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import { gzipUnlessBusy, readBody } from './connect-request.ts';
import { errorToJson, httpStatus } from './error-response.ts';
import { WebCallSource } from './web-call.ts';

/**
 * A fast path for the most common Connect calls, directly on Node's HTTP: unary, by POST, uncompressed. It behaves like
 * connect-node, but avoids Request, Headers, streams and abort controllers, which take longer than the rest of a
 * short call. All other calls go through connect-node (see connect-router.ts).
 */
export type ConnectUnaryHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  open: OpenRequest,
  codec: Codec,
) => Promise<void>;

const codecs = new Map<string | undefined, Codec>([
  ['application/json', 'json'],
  ['application/proto', 'proto'],
]);
// As in connect-node: compressing a smaller response does not pay off.
const minCompressedBytes = 1024;

/** Returns the codec of a request that the fast path can handle; undefined for any other request. */
export function unaryCodecOf({ method, headers }: IncomingMessage): Codec | undefined {
  if (method !== 'POST' || (headers['content-encoding'] ?? 'identity') !== 'identity') return undefined;
  return codecs.get(headers['content-type']);
}

/** Creates the handler of one procedure. It rejects if the response could not be delivered. */
export function createConnectUnaryHandler(rpc: Rpc, interceptors: Interceptors): ConnectUnaryHandler {
  const { method } = rpc;
  const execute = executeUnary(interceptors, rpc);
  return async (request, response, open, codec) => {
    const source = new WebCallSource(method, 'connect', codec, request, response);
    await source.receive(codec, readBody(request, open));
    const call = new CallContext(source);
    try {
      await send(request, response, 200, `application/${codec}`, call, await execute(call));
    } catch (thrown) {
      if (!(thrown instanceof ConnectError)) throw thrown;
      await send(request, response, httpStatus[thrown.code], 'application/json', call, errorToJson(thrown));
    }
  };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  contentType: string,
  call: CallContext,
  content: Buffer | string,
): Promise<void> {
  const headers: Record<string, string | number> = { 'content-type': contentType, 'cache-control': 'no-store' };
  for (const [name, value] of call.responseHeaders) headers[name] = value;
  let body = content;
  if (body.length >= minCompressedBytes && acceptsGzip(request)) {
    const compressed = await gzipUnlessBusy(body);
    if (compressed !== undefined) headers['content-encoding'] = 'gzip';
    body = compressed ?? body;
  }
  headers['content-length'] = Buffer.byteLength(body);
  response.writeHead(status, headers).end(body);
}

/** Whether a response to the request may be compressed with gzip. */
export function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = headers['accept-encoding'];
  return typeof accepted === 'string' && accepted.split(',').some((name) => name.trim() === 'gzip');
}
