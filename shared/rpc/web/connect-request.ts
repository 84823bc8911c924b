import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { Code, type ConnectError } from '@connectrpc/connect';
import { createAsyncIterable, type UniversalServerRequest } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import { commonErrors, fail, invalidRequest } from '../../errors/errors.ts';
import type { Codec } from '../answers/response.ts';
import { envelopeBytes, envelopeHeadBytes, notOneMessage } from '../limits/grpc-wire.ts';
import { maxMessageBytes } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import { encodingHeaders } from './http-request.ts';

const compressedFlag = 1;

/** Returns the codec of a request, by connect-node's rules. */
export function codecOf(request: IncomingMessage): Codec {
  const isJson =
    request.method === 'GET'
      ? urlOf(request).searchParams.get('encoding') === 'json'
      : /json/i.test(request.headers['content-type'] ?? '');
  return isJson ? 'json' : 'proto';
}

/**
 * Returns what connect-node gets of a request: an empty message in place of its own, which `readMessage` reads, and no
 * timeout, which `WebCallSource` keeps. So connect-node refuses neither.
 */
export function withoutMessage(request: IncomingMessage): Pick<UniversalServerRequest, 'url' | 'header' | 'body'> {
  const empty = codecOf(request) === 'json' ? '{}' : '';
  const url = urlOf(request);
  url.searchParams.set('message', empty);
  for (const name of ['base64', 'compression']) url.searchParams.delete(name);
  const header = new Headers(Object.entries(request.headers).map(([name, value = '']) => [name, value.toString()]));
  const replaced = ['content-length', 'connect-timeout-ms', 'grpc-timeout', ...encodingHeaders];
  for (const name of replaced) header.delete(name);
  const head = isEnveloped(request) ? [0, 0, 0, 0, empty.length] : [];
  return { url: url.href, header, body: createAsyncIterable([Buffer.from([...head, ...Buffer.from(empty)])]) };
}

/**
 * Reads the one message of a request, and decompresses it. Rejects as `readBody` does, with UNIMPLEMENTED for an
 * unknown compression, whose response then names the one that is taken, and without a message, and with any other error
 * for what can't be read.
 */
export async function readMessage(
  request: IncomingMessage,
  response: ServerResponse,
  open: OpenRequest,
): Promise<Uint8Array> {
  if (request.method === 'GET') return readQuery(urlOf(request).searchParams, response);
  const isGzip = encodingHeaders.some((name) => namesGzip(request.headers[name], response));
  if (!isEnveloped(request)) return unpack(await readBody(request, open), isGzip);
  const body = await readBody(request, open, true);
  const [flags] = body;
  // What has other flags ends a stream.
  if (flags === undefined || flags > compressedFlag) throw notOneMessage();
  const isPacked = flags === compressedFlag;
  if (body.byteLength < envelopeBytes(body) || (isPacked && !isGzip)) throw invalidRequest('The envelope is malformed');
  return unpack(body.subarray(envelopeHeadBytes), isPacked);
}

function readQuery(query: URLSearchParams, response: ServerResponse): Promise<Uint8Array> {
  const isGzip = namesGzip(query.get('compression'), response);
  const text = query.get('message') ?? '';
  return unpack(query.get('base64') === '1' ? base64Decode(text) : Buffer.from(text), isGzip);
}

async function unpack(bytes: Uint8Array, isGzip: boolean): Promise<Uint8Array> {
  if (!isGzip) return bytes;
  return boundedGzip.decompress(bytes, maxMessageBytes).catch((error: ConnectError) => {
    throw error.code === Code.ResourceExhausted ? fail(commonErrors.messageTooLarge) : error;
  });
}

/** Whether the name of a compression is gzip. Throws UNIMPLEMENTED for another one, and has the response name gzip. */
function namesGzip(name: string | readonly string[] | null | undefined, response: ServerResponse): boolean {
  if (!name || name === 'identity') return false;
  if (name === 'gzip') return true;
  const [, protocol] = /^application\/(connect|grpc)/.exec(response.req.headers['content-type'] ?? '') ?? [];
  response.setHeader(protocol === undefined ? 'accept-encoding' : `${protocol}-accept-encoding`, 'gzip');
  throw fail(commonErrors.unimplemented, { params: { method: 'A compression other than gzip' } });
}

/**
 * Reads a body until it is too large or, where messages stand in envelopes, has more than one. Rejects with
 * TOO_MANY_REQUEST_BYTES when its caller has used up its share of memory, MESSAGE_TOO_LARGE and UNIMPLEMENTED, and if
 * the caller disconnects.
 */
export function readBody(request: IncomingMessage, open: OpenRequest, hasEnvelopes = false): Promise<Buffer> {
  const maxBytes = maxMessageBytes + (hasEnvelopes ? envelopeHeadBytes : 0);
  const chunks: Buffer[] = [];
  let [head, size] = [Buffer.alloc(0), 0];
  return new Promise((resolve, reject) => {
    const refuse = (error: ConnectError) => {
      request.off('data', take);
      reject(error);
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (hasEnvelopes && head.byteLength < envelopeHeadBytes) head = Buffer.concat(chunks);
      if (hasEnvelopes && size > envelopeBytes(head)) refuse(notOneMessage());
      else if (size > maxBytes) refuse(fail(commonErrors.messageTooLarge));
      else if (!open.reserve(size)) refuse(fail(commonErrors.tooManyRequestBytes));
    };
    request.on('data', take);
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
    if (!open.reserve(size)) refuse(fail(commonErrors.tooManyRequestBytes));
  });
}

function isEnveloped({ headers }: IncomingMessage): boolean {
  return /^application\/(?:connect|grpc-web)\b/i.test(headers['content-type'] ?? '');
}

function urlOf({ url = '' }: IncomingMessage): URL {
  return new URL(url, 'http://localhost');
}

const compress = promisify(gzip);

// Responses wait in memory for Node's four worker threads, which also verify tokens.
const maxInFlightBytes = 1024 * 1024;
let inFlightBytes = 0;

/** Whether other responses keep the threads busy. A single response may have any size. */
function isBusy(bytes: number): boolean {
  return inFlightBytes > 0 && inFlightBytes + bytes > maxInFlightBytes;
}

/** Compresses a response with gzip; undefined while the threads are busy, so that it is sent uncompressed. */
export async function gzipUnlessBusy(body: Buffer | string): Promise<Buffer | undefined> {
  return isBusy(body.length) ? undefined : gzipCounted(body);
}

/**
 * The gzip codec of connect-node, which requires gzip output. While the threads are busy, the output is
 * in gzip's format but not compressed.
 */
export const boundedGzip: typeof compressionGzip = {
  ...compressionGzip,
  async compress(bytes) {
    return Uint8Array.from(await gzipCounted(bytes, isBusy(bytes.length) ? 0 : undefined));
  },
};

async function gzipCounted(body: Uint8Array | string, level?: number): Promise<Buffer> {
  inFlightBytes += body.length;
  try {
    return await compress(body, level === undefined ? {} : { level });
  } finally {
    inFlightBytes -= body.length;
  }
}
