import type { IncomingMessage, ServerResponse } from 'node:http';
import { create, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { Code, type ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import { codeName, commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import { jsonWriteOptions } from '../answers/response.ts';
import { pathOf } from './http-request.ts';

/** The HTTP status of an error of Connect's unary protocol: https://connectrpc.com/docs/protocol#error-codes */
export const httpStatus: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** Encodes an error as JSON: https://connectrpc.com/docs/protocol#error-end-stream */
export function errorToJson({ rawMessage, details, code: own }: ConnectError, code = own): string {
  const shown = details.flatMap((detail): JsonValue[] => {
    if (!('desc' in detail)) return [];
    const { desc } = detail;
    const message = create(desc, detail.value);
    const value = base64Encode(toBinary(desc, message), 'std_raw');
    return [{ type: desc.typeName, debug: toJson(desc, message, jsonWriteOptions), value }];
  });
  return JSON.stringify({ code: codeName(code).toLowerCase(), message: rawMessage, details: shown });
}

// The error quotes the path, which alone may be as long as the limit for all headers.
const maxPath = 200;

/**
 * Refuses a request that calls no procedure, because of its path (404), HTTP method (405) or content type (415). It
 * sends a standard error body and logs a line. A 405 or 415 has the code that clients read from such a status.
 */
export async function refuse(
  logger: Logger,
  request: IncomingMessage,
  response: ServerResponse,
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
  response.end(errorToJson(error, status === 404 ? error.code : Code.Unknown));
}
