import { Code, ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { codeName, commonErrors, fail, invalidRequest, unreadableRequest } from '../../errors/errors.ts';
import {
  codeToHttpStatus,
  contentTypeProto,
  encodeEnvelope,
  endStreamFlag,
  endStreamFromJson,
  endStreamToJson,
  errorFromJsonBytes,
  errorToJsonBytes,
  findTrailerError,
  setTrailerStatus,
  trailerFlag,
  trailerParse,
  trailerSerialize,
  type UniversalServerRequest,
  type UniversalServerResponse,
} from '../../internals/connect.ts';
import type { Protocol } from '../../telemetry/call-metrics.ts';
import { CallContext } from '../call-context.ts';
import type { Rpc } from '../implementation.ts';
import { type Interceptor, intercept } from '../interceptor.ts';
import { jsonWriteOptions } from '../protobuf/encoding.ts';
import { hasTimeout, toCallSignal } from './deadlines.ts';
import { pathOf } from './http-request.ts';
import type { WebRequest, WebResponse } from './port.ts';

/** The flags and length before each message of a stream, and of gRPC-Web. */
export const envelopeHeaderBytes = 5;

/** How a response is encoded: its protocol and, for a stream of Connect, its content type. A request in neither gets JSON. */
interface ResponseFormat {
  readonly protocol: Protocol;
  readonly isStream: boolean;
  readonly contentType: string;
}

/**
 * Replaces the response of a request that connect-node rejected before it called the implementation.
 * The error goes through the interceptors all the same: the call is logged and counted, a bad
 * credential comes first, and the error gets its details.
 *
 * @param body the complete body of the `response`.
 */
export async function interceptError(
  rpc: Rpc,
  interceptors: readonly Interceptor[],
  request: UniversalServerRequest,
  response: UniversalServerResponse,
  body: Uint8Array,
): Promise<UniversalServerResponse> {
  const found = readConnectError(formatOf(rpc, request), response, body);
  if (found === undefined) return { ...response, body: singleChunk(body) };
  // connect-node reports a request that it can't decode or decompress as an internal error.
  const error = found.code === Code.Internal ? unreadableRequest(rpc.method, found) : found;
  return rejectCall(rpc, interceptors, request, error);
}

/** Ends a call with an error before its request is decoded. The error goes through the interceptors. */
export async function rejectCall(
  rpc: Rpc,
  interceptors: readonly Interceptor[],
  request: UniversalServerRequest,
  error: ConnectError,
): Promise<UniversalServerResponse> {
  const format = formatOf(rpc, request);
  const reject = () => {
    throw error;
  };
  const call = new CallContext({
    method: rpc.method,
    protocol: format.protocol,
    codec: 'json',
    hasDeadline: hasTimeout(request.header),
    header: (name) => request.header.get(name) ?? undefined,
    openSignal: () => toCallSignal(request.signal),
    decode: reject,
  });
  const handle = intercept<UniversalServerResponse>(interceptors, rpc, async () => reject());
  return handle(call).catch((thrown: ConnectError) => writeConnectError(format, thrown, call.responseHeaders));
}

function formatOf({ method }: Rpc, { header }: UniversalServerRequest): ResponseFormat {
  const contentType = header.get('content-type') ?? '';
  const protocol: Protocol = contentType.startsWith('application/grpc-web') ? 'grpc-web' : 'connect';
  const isStream = method.methodKind !== 'unary' && contentType.startsWith('application/connect+');
  return { protocol, isStream, contentType };
}

/**
 * The error in a response of connect-node: for a malformed message, one that is too large, or an unknown
 * compression. Undefined for any other response.
 */
function readConnectError(
  { protocol, isStream }: ResponseFormat,
  { status, header }: UniversalServerResponse,
  body: Uint8Array,
): ConnectError | undefined {
  const content = body.subarray(envelopeHeaderBytes);
  if (protocol === 'grpc-web') {
    return findTrailerError(body[0] === trailerFlag ? trailerParse(content) : new Headers());
  }
  if (isStream) return body[0] === endStreamFlag ? endStreamFromJson(content).error : undefined;
  const isError = status !== 200 && header?.get('content-type') === 'application/json';
  return isError ? errorFromJsonBytes(body, undefined, new ConnectError('refused')) : undefined;
}

/** The response of a Connect or gRPC-Web call that ends with an error. */
function writeConnectError(
  { protocol, isStream, contentType }: ResponseFormat,
  error: ConnectError,
  headers: ReadonlyMap<string, string>,
): UniversalServerResponse {
  const header = new Headers([...headers]);
  if (protocol === 'grpc-web') {
    header.set('content-type', contentTypeProto);
    const trailer = new Headers();
    setTrailerStatus(trailer, error);
    return { status: 200, header, body: singleChunk(encodeEnvelope(trailerFlag, trailerSerialize(trailer))) };
  }
  if (isStream) {
    header.set('content-type', contentType);
    const end = Buffer.from(JSON.stringify(endStreamToJson(new Headers(), error, jsonWriteOptions)));
    return { status: 200, header, body: singleChunk(encodeEnvelope(endStreamFlag, end)) };
  }
  header.set('content-type', 'application/json');
  return { status: codeToHttpStatus(error.code), header, body: singleChunk(errorToJsonBytes(error, jsonWriteOptions)) };
}

// A path may be as long as all headers may be together.
const maxPath = 200;

/**
 * Refuses a request that is no call of any procedure, with the body that every error has, and a line in the log: for its path
 * (404), its HTTP method (405) or its content type (415).
 */
export async function refuse(
  logger: Logger,
  request: WebRequest,
  response: WebResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const method = `${request.method} ${pathOf(request)}`.slice(0, maxPath);
  const error =
    status === 415
      ? invalidRequest('The content type is not application/json, application/proto or application/grpc-web')
      : fail(commonErrors.unimplemented, { params: { method } });
  logger.info({ method, code: codeName(error.code), status }, 'a request was no call');
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(errorToJsonBytes(error, jsonWriteOptions));
}

/** A body of one chunk. */
export async function* singleChunk(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
