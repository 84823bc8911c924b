import type { Http2SecureServer, Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import * as grpc from '@grpc/grpc-js';
import { PinnedLibrary } from './pinned-library.ts';

/**
 * What this project uses of grpc-js beyond its documented interface.
 *
 * - A server keeps its HTTP/2 servers in the private map `http2Servers`. They are the only place to bound
 *   what clients make the process hold before a call begins and after it has ended: grpc-js has no
 *   options for that.
 * - grpc-js adds its `stream` listener to them when it binds. Ours runs after it, and skips the streams
 *   that grpc-js has rejected.
 * - It reads a call's deadline from the headers of the event. A `stream` listener that goes before it can change them.
 * - grpc-js reads a request in a `data` listener of its stream. Ours goes before it.
 * - A call emits `cancelled` at every end, also after a success.
 * - Only the experimental credentials of a certificate provider can change their certificate.
 */
export const grpcJs = new PinnedLibrary('@grpc/grpc-js', '1.14.7');

export type CertificateProvider = grpc.experimental.CertificateProvider;
export type CaCertificateListener = grpc.experimental.CaCertificateUpdateListener;
export type IdentityCertificateListener = grpc.experimental.IdentityCertificateUpdateListener;

/** Throws a `ConfigError` when grpc-js no longer has what the functions below use. */
export function checkGrpcJs(library: { Server: new () => object; experimental: object } = grpc): void {
  const servers: unknown = Reflect.get(new library.Server(), 'http2Servers');
  grpcJs.check(servers instanceof Map, 'keeps its HTTP/2 servers elsewhere');
  const createCredentials: unknown = Reflect.get(library.experimental, 'createCertificateProviderServerCredentials');
  grpcJs.check(typeof createCredentials === 'function', 'has no credentials that follow a certificate provider');
}

/**
 * The HTTP/2 servers of a bound server, one for each address. Throws a `ConfigError` when
 * they are not in the map, or when grpc-js does not handle their streams yet.
 */
export function http2ServersOf(server: grpc.Server): readonly (Http2Server | Http2SecureServer)[] {
  const map: unknown = Reflect.get(server, 'http2Servers');
  const servers: (Http2Server | Http2SecureServer)[] = map instanceof Map ? [...map.keys()] : [];
  grpcJs.check(servers.length > 0, 'keeps its HTTP/2 servers elsewhere');
  const isHandled = servers.every((each) => each.listenerCount('stream') > 0);
  grpcJs.check(isHandled, 'does not handle streams from the moment it is bound');
  return servers;
}

/** Changes the header of each request in which grpc-js will find its deadline. */
export function changeTimeout(server: Http2Server | Http2SecureServer, change: (timeout: string) => string): void {
  server.prependListener('stream', (_stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    const timeout = headers['grpc-timeout'];
    if (typeof timeout === 'string') headers['grpc-timeout'] = change(timeout);
  });
}

/** Calls `listener` with each chunk of a request before grpc-js gets it. */
export function onChunk(stream: ServerHttp2Stream, listener: (chunk: Buffer) => void): void {
  stream.prependListener('data', listener);
}

/**
 * Server credentials whose certificate follows a provider. With a `clientCa` every client has to
 * present a certificate that one of its authorities has signed.
 */
export function createProviderCredentials(
  identity: CertificateProvider,
  clientCa: CertificateProvider | null,
): grpc.ServerCredentials {
  // The identity comes first, whatever the parameters of grpc-js are called.
  return grpc.experimental.createCertificateProviderServerCredentials(identity, clientCa, clientCa !== null);
}
