import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { Code, ConnectError } from '@connectrpc/connect';
import { CallSignal } from '../../cancellation/signal.ts';
import { withhold } from '../../internals/grpc-js.ts';
import { CallContext } from '../call-context.ts';
import { intercept } from '../interceptor.ts';
import { procedurePath } from '../procedure-path.ts';
import type { ServedCalls } from '../served-calls.ts';
import { encodeStatus } from './status.ts';

/** Encodes an error as an answer of headers alone. */
export function trailersOnly(error: ConnectError): OutgoingHttpHeaders {
  return {
    'content-type': 'application/grpc+proto',
    'grpc-status': error.code,
    'grpc-message': encodeURI(error.rawMessage),
    'grpc-status-details-bin': encodeStatus(error).toString('base64'),
  };
}

/** Answers a request that is not executed, unless grpc-js has answered it, and discards the rest of it. */
export function refuse(stream: ServerHttp2Stream, answer: OutgoingHttpHeaders): void {
  if (stream.closed || stream.destroyed) return;
  if (!stream.headersSent) stream.respond(answer, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
  withhold(stream);
  stream.resume();
}

const httpCodes: Readonly<Record<number, Code>> = { 405: Code.Unimplemented, 415: Code.InvalidArgument };

/**
 * Returns a function that logs and counts, like a call, a request that was refused before its procedure, given its
 * headers and those of the answer. It leaves out what strangers could raise an alert with: RESOURCE_EXHAUSTED.
 */
export function createRefusalObserver({ implementations, observers }: ServedCalls) {
  const rpcs = implementations.flatMap((implementation) => implementation.rpcs);
  const observed = new Map(
    rpcs.map((rpc) => {
      const observe = intercept(observers, rpc, async ({ request }) => request);
      return [procedurePath(rpc.method), { method: rpc.method, observe }];
    }),
  );
  return (headers: IncomingHttpHeaders, sent: OutgoingHttpHeaders | undefined): void => {
    // An answer of a procedure has the id of its request.
    if (sent === undefined || sent['x-request-id'] !== undefined) return;
    const code: Code = Number(sent['grpc-status'] ?? httpCodes[Number(sent[':status'])]);
    const refused = observed.get(headers[':path'] ?? '');
    if (refused === undefined || (code !== Code.Unimplemented && code !== Code.InvalidArgument)) return;
    const call = new CallContext({
      method: refused.method,
      protocol: 'grpc',
      codec: 'proto',
      hasDeadline: false,
      header: (name) => headers[name]?.toString(),
      openSignal: () => new CallSignal(),
      decode() {
        throw new ConnectError('refused', code);
      },
    });
    refused.observe(call).catch(() => undefined);
  };
}
