import type { IncomingMessage } from 'node:http';
import { commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import type { Codec } from '../protobuf/encoding.ts';
import { mayBeCompressed } from './http-request.ts';

/** The flags and length before each message of a stream, and of gRPC-Web. */
const envelopeHeaderBytes = 5;
const compressedFlag = 1;

/** The codec of a request, found out as connect-node does. */
export function codecOf({ method, url = '', headers }: IncomingMessage): Codec {
  const isJson =
    method === 'GET'
      ? new URL(url, 'http://localhost').searchParams.get('encoding') === 'json'
      : /json/i.test(headers['content-type'] ?? '');
  return isJson ? 'json' : 'proto';
}

/**
 * Reads the body of a request and yields it as one chunk, once `checkBounds` has accepted its message.
 * A compressed message is checked after decompression instead. connect-node has no place for either:
 * it decodes what it gets.
 *
 * Throws TOO_MANY_REQUEST_BYTES when the caller may take no more memory, MESSAGE_TOO_LARGE, and INVALID_ARGUMENT for a stream of
 * several messages.
 */
export async function* readBoundedBody(
  request: IncomingMessage,
  open: OpenRequest,
  checkBounds: (message: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  const isEnveloped = /^application\/(?:connect|grpc-web)\b/i.test(request.headers['content-type'] ?? '');
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (!open.reserve(size)) throw fail(commonErrors.tooManyRequestBytes);
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (!open.reserve(size)) throw fail(commonErrors.tooManyRequestBytes);
    if (size > maxMessageBytes + envelopeHeaderBytes) throw fail(commonErrors.messageTooLarge);
  }
  const body = Buffer.concat(chunks);
  // connect-node would decode all of several messages before it rejects them.
  if (isEnveloped && body.length > envelopeHeaderBytes && body.length > envelopeHeaderBytes + body.readUInt32BE(1)) {
    throw invalidRequest('The request has more than one message');
  }
  const isCompressed = isEnveloped ? ((body[0] ?? 0) & compressedFlag) !== 0 : mayBeCompressed(request);
  if (!isCompressed) checkBounds(isEnveloped ? body.subarray(envelopeHeaderBytes) : body);
  yield body;
}
