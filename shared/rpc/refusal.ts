import { ConnectError } from '@connectrpc/connect';
import { encodeEnvelope, type UniversalServerResponse } from '@connectrpc/connect/protocol';
import { codeToHttpStatus, errorFromJsonBytes, errorToJsonBytes } from '@connectrpc/connect/protocol-connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import {
  contentTypeProto,
  setTrailerStatus,
  trailerFlag,
  trailerParse,
  trailerSerialize,
} from '@connectrpc/connect/protocol-grpc-web';
import type { Protocol } from './call.ts';

const envelopeHeadBytes = 5;

/**
 * The error that connect-node answered with before it reached an implementation (bytes that are no
 * message, a message that is too large, an unknown compression), or undefined for any other answer.
 */
export function readRefusal(
  protocol: Protocol,
  { status, header }: UniversalServerResponse,
  body: Uint8Array,
): ConnectError | undefined {
  if (protocol === 'connect') {
    const isError = status !== 200 && header?.get('content-type') === 'application/json';
    return isError ? errorFromJsonBytes(body, undefined, new ConnectError('refused')) : undefined;
  }
  if (status !== 200) return undefined;
  return findTrailerError(body[0] === trailerFlag ? trailerParse(body.subarray(envelopeHeadBytes)) : new Headers());
}

/** An error as an answer of a unary Connect or gRPC-Web call. */
export function writeRefusal(
  protocol: Protocol,
  error: ConnectError,
  headers: ReadonlyMap<string, string>,
): UniversalServerResponse {
  const header = new Headers([...headers]);
  if (protocol === 'connect') {
    header.set('content-type', 'application/json');
    return { status: codeToHttpStatus(error.code), header, body: once(errorToJsonBytes(error, {})) };
  }
  header.set('content-type', contentTypeProto);
  const trailer = new Headers();
  setTrailerStatus(trailer, error);
  return { status: 200, header, body: once(encodeEnvelope(trailerFlag, trailerSerialize(trailer))) };
}

/** A body of one chunk. */
export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
