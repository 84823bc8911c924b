import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { type AnswerError, readError } from '../fuzz/answer-errors.ts';
import { flatten } from '../fuzz/exchange.ts';
import { connectWithHeaders, type HeaderList } from './http2-frames.ts';
import type { TestService } from './service.ts';

/** A request as it stands on the wire. */
export interface RawCall {
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
  /** Unset: POST. */
  readonly method?: string;
  /** How many bytes the body lacks of its length, over HTTP/1.1. */
  readonly missingBytes?: number;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a success, and for an answer by its HTTP status alone. */
  readonly error: AnswerError | undefined;
  /** The code with which a stream of HTTP/2 was closed. */
  readonly reset?: number;
}

/** Sends a request to the web port. */
export async function sendOverWeb({ webPort: port }: TestService, call: RawCall): Promise<RawAnswer> {
  const { path, body, method = 'POST', missingBytes = 0 } = call;
  const length = method === 'GET' ? [] : ['content-length', String(body.byteLength + missingBytes)];
  const sent = request({ port, path, method, headers: ['host', 'x', ...length, ...call.headers.flat()], agent: false });
  if (missingBytes > 0) sent.write(body);
  else sent.end(body);
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('no response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  sent.destroy();
  const status = response.statusCode ?? 0;
  const headers = flatten(response.headers);
  const answer = { ended: 'answered', status, headers, body: Buffer.concat(chunks) } as const;
  return { status, headers, error: method === 'HEAD' ? undefined : readError(answer) };
}

/** Sends a request to the gRPC port. */
export async function sendOverGrpc({ grpcPort }: TestService, call: RawCall): Promise<RawAnswer> {
  const stream = openOverGrpc(grpcPort, call);
  stream.end(call.body);
  return readOverGrpc(stream);
}

/** Opens a request to the gRPC port on a connection of its own, without its body. */
export function openOverGrpc(port: number, { path, headers, method = 'POST' }: RawCall): ClientHttp2Stream {
  const own: HeaderList = [
    [':method', method],
    [':scheme', 'http'],
    [':authority', 'x'],
    [':path', path],
  ];
  const session = connectWithHeaders(port, [...own, ...headers]);
  const stream = session.request({ ':method': 'POST' });
  stream.on('close', () => session.destroy());
  return stream;
}

export async function readOverGrpc(stream: ClientHttp2Stream): Promise<RawAnswer> {
  const received: Record<string, string> = {};
  const take = (headers: IncomingHttpHeaders) => void Object.assign(received, flatten(headers));
  stream
    .on('response', take)
    .on('trailers', take)
    .on('error', () => undefined);
  stream.resume();
  await once(stream, 'close');
  const status = Number(received[':status']);
  const isGrpc = received['grpc-status'] !== undefined;
  const answer = { ended: 'answered', status, headers: received, body: Buffer.alloc(0) } as const;
  return { status, headers: received, error: isGrpc ? readError(answer) : undefined, reset: stream.rstCode ?? 0 };
}

/** A message behind its five bytes. */
export function enveloped(message: Uint8Array | string, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(Buffer.byteLength(message), 1);
  return Buffer.concat([head, Buffer.from(message)]);
}

/** How a protocol carries a request with one message, in its binary form. */
export interface Way {
  readonly name: string;
  readonly protocol: 'grpc' | 'connect' | 'grpc-web';
  /** The path of its procedure, a stream where the way is one. */
  readonly path: string;
  send(service: TestService, call: RawCall): Promise<RawAnswer>;
  /** A call with this message, which may say that it is gzip. */
  call(message: Uint8Array, headers: HeaderList, isGzip?: boolean): RawCall;
}

/** The procedures that the ways call: a query and a stream. */
export const procedurePaths = {
  unary: '/slot.v1.SlotService/GetSlots',
  stream: '/slot.v1.SlotStoreService/WatchStore',
} as const;

const { unary, stream } = procedurePaths;

function posted(path: string, type: string, encodingHeader: string): Pick<Way, 'path' | 'call'> {
  const isEnveloped = type !== 'application/proto';
  return {
    path,
    call(message, headers, isGzip = false) {
      const encoding: HeaderList = isGzip ? [[encodingHeader, 'gzip']] : [];
      const body = isEnveloped ? enveloped(message, isGzip ? 1 : 0) : message;
      return { path, headers: [['content-type', type], ...encoding, ...headers], body };
    },
  };
}

const grpc = { protocol: 'grpc', send: sendOverGrpc } as const;
const connect = { protocol: 'connect', send: sendOverWeb } as const;
const grpcWeb = { protocol: 'grpc-web', send: sendOverWeb } as const;

export const ways: readonly Way[] = [
  { name: 'gRPC', ...grpc, ...posted(unary, 'application/grpc', 'grpc-encoding') },
  { name: 'a stream of gRPC', ...grpc, ...posted(stream, 'application/grpc', 'grpc-encoding') },
  { name: 'Connect', ...connect, ...posted(unary, 'application/proto', 'content-encoding') },
  {
    name: 'a stream of Connect',
    ...connect,
    ...posted(stream, 'application/connect+proto', 'connect-content-encoding'),
  },
  {
    name: 'Connect GET',
    ...connect,
    path: unary,
    call(message, headers, isGzip = false) {
      const query = `connect=v1&encoding=proto&base64=1${isGzip ? '&compression=gzip' : ''}`;
      const base64 = Buffer.from(message).toString('base64url');
      return { method: 'GET', path: `${unary}?${query}&message=${base64}`, headers, body: Buffer.alloc(0) };
    },
  },
  { name: 'gRPC-Web', ...grpcWeb, ...posted(unary, 'application/grpc-web+proto', 'grpc-encoding') },
  { name: 'a stream of gRPC-Web', ...grpcWeb, ...posted(stream, 'application/grpc-web', 'grpc-encoding') },
];
