import type { IncomingMessage } from 'node:http';
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { ConnectError } from '@connectrpc/connect';
import { createAsyncIterable, type UniversalServerRequest } from '@connectrpc/connect/protocol';
import { commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import type { Codec } from '../answers/encoding.ts';
import { decodeRequest } from '../decode-request.ts';
import { Envelope, envelopeHeadBytes, notOneMessage } from '../limits/envelope.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import { gunzipMessage } from './compression.ts';
import { capTimeout } from './deadlines.ts';

const compressedFlag = 1;

/** The headers of the forms of a request. */
const forms = {
  unary: { isEnveloped: false, encoding: 'content-encoding', timeout: 'connect-timeout-ms' },
  connect: { isEnveloped: true, encoding: 'connect-content-encoding', timeout: 'connect-timeout-ms' },
  'grpc-web': { isEnveloped: true, encoding: 'grpc-encoding', timeout: 'grpc-timeout' },
} as const;

function formOf({ headers }: IncomingMessage) {
  const [, name = 'unary'] =
    /^application\/(connect|grpc-web)\b/.exec(headers['content-type']?.toLowerCase() ?? '') ?? [];
  return name === 'connect' || name === 'grpc-web' ? forms[name] : forms.unary;
}

/** Returns the codec of a request, by connect-node's rules. */
export function codecOf(request: IncomingMessage): Codec {
  const isJson =
    request.method === 'GET'
      ? queryOf(request).get('encoding') === 'json'
      : /json/i.test(request.headers['content-type'] ?? '');
  return isJson ? 'json' : 'proto';
}

/** Returns what connect-node gets of a request: an empty message stands for its own, which `readMessage` reads. */
export function withoutMessage(
  request: IncomingMessage,
  codec: Codec,
): Pick<UniversalServerRequest, 'url' | 'header' | 'body'> {
  const { isEnveloped, encoding, timeout } = formOf(request);
  const empty = codec === 'json' ? '{}' : '';
  const url = new URL(request.url ?? '', 'http://localhost');
  url.searchParams.set('message', empty);
  for (const name of ['base64', 'compression']) url.searchParams.delete(name);
  const header = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    for (const value of values) header.append(name, value);
  }
  const capped = capTimeout(timeout, header.get(timeout) ?? '');
  for (const name of ['content-length', encoding, timeout]) header.delete(name);
  if (capped !== undefined) header.set(timeout, capped);
  const head = Buffer.from(isEnveloped ? [0, 0, 0, 0, empty.length] : []);
  return { url: url.href, header, body: createAsyncIterable([Buffer.concat([head, Buffer.from(empty)])]) };
}

/**
 * Reads the message of a request, and returns the function that decodes it. All errors are thrown by that function, for
 * a caller whose credential is good: TOO_MANY_REQUEST_BYTES when the caller has used up its share of memory,
 * MESSAGE_TOO_LARGE, UNIMPLEMENTED for an unknown compression and for other than one message, and INVALID_ARGUMENT for
 * what can't be decoded. Rejects if the caller disconnects.
 */
export async function readMessage(
  method: DescMethod,
  codec: Codec,
  request: IncomingMessage,
  open: OpenRequest,
): Promise<() => Message> {
  try {
    const { timeout } = formOf(request);
    const given = request.headers[timeout];
    if (given !== undefined && capTimeout(timeout, String(given)) === undefined) {
      throw invalidRequest(`The header ${timeout} is no timeout`);
    }
    const bytes = await (request.method === 'GET' ? readQuery(request) : readBody(request, open));
    return () => decodeRequest(method, codec, bytes);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return () => {
      throw error;
    };
  }
}

async function readQuery(request: IncomingMessage): Promise<Uint8Array> {
  const query = queryOf(request);
  const text = query.get('message') ?? '';
  const isGzip = namesGzip(query.get('compression'));
  const bytes = query.get('base64') === '1' ? fromBase64(text) : Buffer.from(text);
  return isGzip ? gunzipMessage(bytes) : bytes;
}

function fromBase64(text: string): Uint8Array {
  try {
    return base64Decode(text);
  } catch (cause) {
    throw invalidRequest('The message is no base64', { cause });
  }
}

async function readBody(request: IncomingMessage, open: OpenRequest): Promise<Uint8Array> {
  const { isEnveloped, encoding } = formOf(request);
  const isGzip = namesGzip(request.headers[encoding]);
  const body = await collect(request, open, isEnveloped);
  if (!isEnveloped) return isGzip ? gunzipMessage(body) : body;
  // What has other flags ends a stream.
  if (body.byteLength === 0 || body.readUInt8() > compressedFlag) throw notOneMessage();
  const message = body.subarray(envelopeHeadBytes);
  if (body.byteLength < envelopeHeadBytes || message.byteLength < body.readUInt32BE(1)) {
    throw invalidRequest('The message breaks off');
  }
  if (body.readUInt8() !== compressedFlag) return message;
  if (!isGzip) throw invalidRequest('The message is compressed, but no header says how');
  return gunzipMessage(message);
}

/** Collects a body until it has more than one message, or is too large. */
async function collect(request: IncomingMessage, open: OpenRequest, isEnveloped: boolean): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const envelope = new Envelope();
  if (!open.reserve(0)) throw fail(commonErrors.tooManyRequestBytes);
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    envelope.add(chunk);
    if (isEnveloped && envelope.isFollowed) throw notOneMessage();
    if (!open.reserve(envelope.size)) throw fail(commonErrors.tooManyRequestBytes);
    if (envelope.size > maxMessageBytes + envelopeHeadBytes) throw fail(commonErrors.messageTooLarge);
  }
  return Buffer.concat(chunks);
}

/** Whether the name of a compression is gzip. Throws UNIMPLEMENTED for any other one. */
function namesGzip(name: string | readonly string[] | null = 'identity'): boolean {
  if (name === 'gzip') return true;
  if (name === null || name === '' || name === 'identity') return false;
  throw fail(commonErrors.unimplemented, { params: { method: 'A compression other than gzip' } });
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}
