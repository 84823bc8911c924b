import { ConnectError } from '@connectrpc/connect';
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
  type UniversalServerResponse,
} from '../../internals/connect.ts';
import type { Protocol } from '../../telemetry/call-metrics.ts';
import { jsonWriteOptions } from '../protobuf/encoding.ts';

/** Flags and length, before each message of a stream and of gRPC-Web. */
export const envelopeHeadBytes = 5;

/** What an answer has to be written in: the protocol, and for a stream of Connect its content type. */
export interface AnswerForm {
  readonly protocol: Protocol;
  readonly isStream: boolean;
  readonly contentType: string;
}

/**
 * The error that connect-node answered with before it reached an implementation (bytes that are no
 * message, a message that is too large, an unknown compression), or undefined for any other answer.
 */
export function readConnectError(
  { protocol, isStream }: AnswerForm,
  { status, header }: UniversalServerResponse,
  body: Uint8Array,
): ConnectError | undefined {
  const content = body.subarray(envelopeHeadBytes);
  if (protocol === 'grpc-web') {
    return findTrailerError(body[0] === trailerFlag ? trailerParse(content) : new Headers());
  }
  if (isStream) return body[0] === endStreamFlag ? endStreamFromJson(content).error : undefined;
  const isError = status !== 200 && header?.get('content-type') === 'application/json';
  return isError ? errorFromJsonBytes(body, undefined, new ConnectError('refused')) : undefined;
}

/** An error as an answer of a Connect or gRPC-Web call. */
export function writeConnectError(
  { protocol, isStream, contentType }: AnswerForm,
  error: ConnectError,
  headers: ReadonlyMap<string, string>,
): UniversalServerResponse {
  const header = new Headers([...headers]);
  if (protocol === 'grpc-web') {
    header.set('content-type', contentTypeProto);
    const trailer = new Headers();
    setTrailerStatus(trailer, error);
    return { status: 200, header, body: once(encodeEnvelope(trailerFlag, trailerSerialize(trailer))) };
  }
  if (isStream) {
    header.set('content-type', contentType);
    const end = Buffer.from(JSON.stringify(endStreamToJson(new Headers(), error, jsonWriteOptions)));
    return { status: 200, header, body: once(encodeEnvelope(endStreamFlag, end)) };
  }
  header.set('content-type', 'application/json');
  return { status: codeToHttpStatus(error.code), header, body: once(errorToJsonBytes(error, jsonWriteOptions)) };
}

/** A body of one chunk. */
export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
