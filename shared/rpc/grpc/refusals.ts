import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectError } from '@connectrpc/connect';
import { codeName, commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import { StatusSchema } from '../../gen/google/rpc/status_pb.ts';
import type { ServedCalls } from '../implementation.ts';
import { grpcTimeoutMs } from '../limits/grpc-wire.ts';
import { maxTimerMs } from '../limits/limits.ts';
import { procedurePath } from '../procedure.ts';

const takenEncodings = ['identity', 'deflate', 'gzip'];
const withParameters = /^application\/grpc(?:\+proto)?\s*;/;

/**
 * Prepares the headers of a request for grpc-js. A timeout is capped, or undefined if it is malformed. Of several
 * credentials, of which Node keeps the first, is made one that nobody has.
 */
export function prepareHeaders(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): void {
  const timeout = headers['grpc-timeout'];
  if (timeout !== undefined) {
    const ms = grpcTimeoutMs(String(timeout));
    if (Number.isNaN(ms)) headers['grpc-timeout'] = undefined;
    // A longer timer of Node would end at once.
    else if (ms > maxTimerMs) headers['grpc-timeout'] = `${Math.floor(maxTimerMs / 1000)}S`;
  }
  let credentials = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at] === 'authorization') credentials += 1;
  if (credentials > 1) headers.authorization += ',';
}

/** Returns the answer to a request that is refused for its prepared headers; undefined for one that may be a call. */
export function refusalOf(headers: IncomingHttpHeaders): OutgoingHttpHeaders | undefined {
  if (headers[':method'] !== 'POST') return { ':status': 405, allow: 'POST' };
  const type = headers['content-type'] ?? '';
  const isGrpc = type === 'application/grpc' || type === 'application/grpc+proto' || withParameters.test(type);
  if (!isGrpc) return { ':status': 415 };
  const isMalformed = 'grpc-timeout' in headers && headers['grpc-timeout'] === undefined;
  if (isMalformed) return trailersOnly(invalidRequest('The timeout is malformed'));
  if (takenEncodings.includes(String(headers['grpc-encoding'] ?? 'identity'))) return undefined;
  // grpc-js refuses it as well, but does not say which ones it takes.
  const unknown = fail(commonErrors.unimplemented, { params: { method: 'A compression other than gzip and deflate' } });
  return { ...trailersOnly(unknown), 'grpc-accept-encoding': takenEncodings.join() };
}

/** Encodes an error as an answer of headers alone. */
export function trailersOnly(error: ConnectError): OutgoingHttpHeaders {
  return {
    'content-type': 'application/grpc+proto',
    'grpc-status': error.code,
    'grpc-message': error.rawMessage,
    'grpc-status-details-bin': encodeStatus(error).toString('base64'),
  };
}

/** Answers a request, unless grpc-js has answered it, and discards the rest of it. Nothing of it is executed. */
export function refuse(stream: ServerHttp2Stream, answer: OutgoingHttpHeaders): void {
  if (stream.closed || stream.destroyed) return;
  if (!stream.headersSent) stream.respond(answer, { endStream: true });
  stream.close(constants.NGHTTP2_NO_ERROR);
  // At the end, grpc-js would execute the call whose message it has.
  for (const event of ['data', 'end']) stream.removeAllListeners(event);
  stream.resume();
}

/**
 * Returns a function that logs and counts, as a call, a request that was refused before its procedure, given its
 * headers and those of the answer. It leaves out RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED, with which unauthenticated
 * clients could raise alerts.
 */
export function createRefusalLog({ implementations, logger, calls }: ServedCalls) {
  const methods = implementations.flatMap(({ rpcs }) => rpcs.map(({ method }) => method));
  const begins = new Map(methods.map((method) => [procedurePath(method), calls?.of(method, 'grpc')]));
  return (headers: IncomingHttpHeaders, answer: OutgoingHttpHeaders | undefined): void => {
    const path = headers[':path'] ?? '';
    // An answer of a procedure has the id of its request.
    if (answer === undefined || answer['x-request-id'] !== undefined || !begins.has(path)) return;
    const httpCode = answer[':status'] === 405 ? Code.Unimplemented : Code.InvalidArgument;
    const code: Code = Number(answer['grpc-status'] ?? httpCode);
    if (code !== Code.Unimplemented && code !== Code.InvalidArgument) return;
    begins.get(path)?.()(code);
    logger.info({ method: path.slice(1), code: codeName(code), protocol: 'grpc' }, 'call');
  };
}

/** Encodes an error as the `google.rpc.Status` of the trailer `grpc-status-details-bin`. */
export function encodeStatus(error: ConnectError): Buffer {
  const details = error.details.flatMap((detail) =>
    'desc' in detail ? [anyPack(detail.desc, create(detail.desc, detail.value))] : [],
  );
  const status = create(StatusSchema, { code: error.code, message: error.rawMessage, details });
  return Buffer.from(toBinary(StatusSchema, status));
}
