import { ConfigError } from '../config/variables.ts';

/**
 * What this project uses of `node:http2` beyond its documentation.
 *
 * A TLS server with `allowHTTP1` serves HTTP/1.1 too, but neither its options nor its types know the
 * limits of that protocol. Node reads them from properties of the server, as it does for an HTTP
 * server, and gives the server the method `closeIdleConnections`.
 */
export interface Http1Limits {
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly maxHeadersCount: number;
}

/**
 * Limits HTTP/1.1 on a TLS server that also speaks HTTP/2. Throws a `ConfigError` when this Node does
 * not take the limits as properties.
 */
export function limitHttp1(server: object, limits: Http1Limits): void {
  const isAsExpected = 'headersTimeout' in server && 'requestTimeout' in server && 'closeIdleConnections' in server;
  if (!isAsExpected) {
    throw new ConfigError(
      `Node ${process.versions.node} limits HTTP/1.1 over TLS elsewhere: this release works with Node 20, 22 and 24`,
    );
  }
  Object.assign(server, limits);
}

/** Closes the HTTP/1.1 connections that wait for a next request; those of HTTP/2 stay. */
export function closeIdleHttp1(server: object): void {
  if ('closeIdleConnections' in server && typeof server.closeIdleConnections === 'function') {
    server.closeIdleConnections();
  }
}
