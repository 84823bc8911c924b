import type {
  Http2SecureServer,
  Http2Server,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * This project depends on these parts of grpc-js beyond its documented interface:
 *
 * - A server keeps its HTTP/2 servers in the private map `http2Servers`. grpc-js has no options that bound the
 *   resources that clients hold before a call begins and after it ends. Only listeners on these servers can.
 * - grpc-js adds its `stream` listener when the server binds. Ours takes its place, and calls it for the requests that
 *   it is to handle. So do ours for connections with the `connection` listeners of Node and grpc-js.
 * - grpc-js reads a call's deadline and metadata from the headers of the event. They can be changed before it sees
 *   them.
 * - grpc-js answers through `respond` and `sendTrailers` of the stream.
 * - grpc-js reads a request in `data` and `end` listeners of its stream. Ours run earlier. It executes a call at the
 *   `end`, also of a stream that is closed, if it had the message before; of a closed stream it reads no message.
 * - A unary call has its HTTP/2 stream in `call.stream` of its private `call`.
 * - A call emits `cancelled` whenever it ends, even after success.
 * - Only the experimental certificate-provider credentials can replace their certificate.
 */
export const grpcJs = new PinnedLibrary('@grpc/grpc-js', '1.14.7');

/** So many requests of doubtful connections begin before other connections are read again. */
const mostBegunAtOnce = 100;

export type CertificateProvider = grpc.experimental.CertificateProvider;
export type CaCertificateListener = grpc.experimental.CaCertificateUpdateListener;
export type IdentityCertificateListener = grpc.experimental.IdentityCertificateUpdateListener;

/** Throws a `ConfigError` if grpc-js no longer has the internals that this file uses. */
export function checkGrpcJs(library: { Server: new () => object; experimental: object } = grpc): void {
  const servers: unknown = Reflect.get(new library.Server(), 'http2Servers');
  grpcJs.check(servers instanceof Map, 'keeps its HTTP/2 servers elsewhere');
  const createCredentials: unknown = Reflect.get(library.experimental, 'createCertificateProviderServerCredentials');
  grpcJs.check(typeof createCredentials === 'function', 'has no credentials that follow a certificate provider');
}

/**
 * Returns the HTTP/2 servers of a bound server, one per address. Throws a `ConfigError` if they are not in the map, or
 * if grpc-js does not handle their streams yet.
 */
export function http2ServersOf(server: grpc.Server): readonly (Http2Server | Http2SecureServer)[] {
  const map: unknown = Reflect.get(server, 'http2Servers');
  const servers: (Http2Server | Http2SecureServer)[] = map instanceof Map ? [...map.keys()] : [];
  grpcJs.check(servers.length > 0, 'keeps its HTTP/2 servers elsewhere');
  const isHandled = servers.every((each) => each.listenerCount('stream') > 0);
  grpcJs.check(isHandled, 'does not handle streams from the moment it is bound');
  return servers;
}

/**
 * Calls `arrive` with each request: its stream and headers, the names and values of its headers as Node received them,
 * and what gives it to grpc-js, which gets no other requests. What that returns is called once all is read that came
 * with the request: by then its client may have reset it.
 */
export function onRequest(
  server: Http2Server | Http2SecureServer,
  arrive: (
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    handle: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  ) => (() => void) | undefined,
): void {
  const [listener] = server.listeners('stream');
  server.removeAllListeners('stream');
  const handle = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void listener?.(stream, headers);
  const arrived: (() => void)[] = [];
  const beginArrived = () => {
    for (const begin of arrived.splice(0, mostBegunAtOnce)) begin();
    if (arrived.length > 0) setImmediate(beginArrived);
  };
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
    const begin = arrive(stream, headers, raw, handle);
    if (begin === undefined) return;
    stream.on('error', () => undefined);
    arrived.push(() => {
      begin();
      // Node has emitted the end of an empty body before anybody listened.
      if (stream.readableEnded) stream.emit('end');
    });
    if (arrived.length === 1) setImmediate(beginArrived);
  });
}

/** Serves each new connection of a server after `delayMs()`. Must be called before other listeners are added. */
export function delayConnections(server: Http2Server | Http2SecureServer, delayMs: () => number): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    // Its client may reset it meanwhile.
    socket.on('error', () => undefined);
    const serve = () => {
      if (!server.listening) socket.destroy();
      if (!socket.destroyed) for (const listener of listeners) Reflect.apply(listener, server, [socket]);
    };
    const ms = delayMs();
    if (ms === 0) serve();
    else setTimeout(serve, ms);
  });
}

/** Makes INVALID_ARGUMENT of the INTERNAL with which grpc-js itself answers what it can't decompress or decode. */
export function blameCaller(stream: ServerHttp2Stream): void {
  const { respond, sendTrailers } = stream;
  const blame = (headers: OutgoingHttpHeaders = {}) => {
    // An answer of a procedure has the id of its request.
    const isOurs = headers['grpc-status'] !== grpc.status.INTERNAL || headers['x-request-id'] !== undefined;
    return isOurs ? headers : { ...headers, 'grpc-status': grpc.status.INVALID_ARGUMENT };
  };
  stream.respond = (headers, options) => respond.call(stream, blame(headers), options);
  stream.sendTrailers = (trailers) => sendTrailers.call(stream, blame(trailers));
}

const attached = Symbol('attached');

declare module 'node:http2' {
  interface ServerHttp2Stream {
    [attached]?: object;
  }
}

/** Attaches an object to a stream, where `attachedTo` finds it. */
export function attach(stream: ServerHttp2Stream, object: object): void {
  stream[attached] = object;
}

const isUnaryCall = (call: object): call is { call: { stream: ServerHttp2Stream } } => 'call' in call;

/** Returns what is attached to the stream of a unary call. */
export function attachedTo(call: object): unknown {
  return isUnaryCall(call) ? call.call.stream[attached] : undefined;
}

/** Calls `listener` with each chunk of a request before grpc-js gets it. */
export function onChunk(stream: ServerHttp2Stream, listener: (chunk: Buffer) => void): void {
  stream.prependListener('data', listener);
}

/**
 * Creates server credentials whose certificate follows a provider. With a `clientCa`, every client must present a
 * certificate signed by one of its authorities.
 */
export function createProviderCredentials(
  identity: CertificateProvider,
  clientCa: CertificateProvider | null,
): grpc.ServerCredentials {
  // The identity comes first, even though grpc-js names its parameters otherwise.
  return grpc.experimental.createCertificateProviderServerCredentials(identity, clientCa, clientCa !== null);
}
