import type { IncomingMessage } from 'node:http';
import { commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import type { Codec } from '../answers/encoding.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import { mayBeCompressed } from './http-request.ts';

/** The flags and length in front of each message of a stream and of gRPC-Web. */
const envelopeHeaderBytes = 5;
const compressedFlag = 1;

/** Returns the codec of a request, by connect-node's rules. */
export function codecOf({ method, url = '', headers }: IncomingMessage): Codec {
  const isJson =
    method === 'GET'
      ? new URL(url, 'http://localhost').searchParams.get('encoding') === 'json'
      : /json/i.test(headers['content-type'] ?? '');
  return isJson ? 'json' : 'proto';
}

/**
 * Reads a request body and yields it as one chunk, after `checkBounds` has accepted its message. A compressed message
 * is checked after decompression instead. connect-node has no hook for either.
 *
 * Throws TOO_MANY_REQUEST_BYTES when the caller has used up its share of memory, MESSAGE_TOO_LARGE, and
 * INVALID_ARGUMENT for more than one message.
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
  // connect-node would decode all messages before rejecting more than one.
  if (isEnveloped && body.length > envelopeHeaderBytes && body.length > envelopeHeaderBytes + body.readUInt32BE(1)) {
    throw invalidRequest('The request has more than one message');
  }
  const isCompressed = isEnveloped ? ((body[0] ?? 0) & compressedFlag) !== 0 : mayBeCompressed(request);
  if (!isCompressed) checkBounds(isEnveloped ? body.subarray(envelopeHeaderBytes) : body);
  yield body;
}
