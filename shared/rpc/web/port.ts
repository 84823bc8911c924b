import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Server } from 'node:net';
import { closeIdleHttp1, limitHttp1 } from '../../internals/node-http2.ts';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import { Connections } from '../limits/connections.ts';
import { maxStreamsPerConnection, requestTimeoutMs } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';
import { limitSession } from './http2-session.ts';

export type WebRequest = IncomingMessage | Http2ServerRequest;
export type WebResponse = ServerResponse | Http2ServerResponse;
/** Handles one request; rejects when the response could not be delivered. */
export type WebHandler = (request: WebRequest, response: WebResponse, open: OpenRequest) => Promise<void>;
export type WebListener = (request: WebRequest, response: WebResponse) => void;

/** A server that does not listen yet. */
export interface WebPort {
  readonly server: Server;
  readonly connections: Connections;
  /** Accepts no more connections; resolves once the calls in flight have ended. */
  stop(): Promise<void>;
  /** Closes every connection at once. */
  kill(): void;
}

// A query by GET carries its request in the URL; 64 KiB hold some 4,000 ids. A browser can't read the 431
// of a longer one, because Node sends it before CORS headers can be set.
const maxHeaderSize = 64 * 1024;
// Node drops further headers silently; browsers and proxies send some forty.
const maxHeadersCount = 200;
const timeouts = {
  headersTimeout: 10_000,
  requestTimeout: requestTimeoutMs,
  // Longer than the 60 s for which most load balancers keep their own side: they must not send a
  // request into a connection that is closing.
  keepAliveTimeout: 65_000,
};
// How often Node looks for requests that are past their timeout.
const connectionsCheckingInterval = 5_000;

const sweepMs = 50;
const handshakeTimeoutMs = 10_000;

/** Creates a port for HTTP/1.1 in cleartext. */
export function createHttpPort(listener: WebListener): WebPort {
  const server = createServer({ ...timeouts, maxHeaderSize, connectionsCheckingInterval }, listener);
  server.maxHeadersCount = maxHeadersCount;
  const connections = new Connections(server);
  return {
    server,
    connections,
    stop: () =>
      close(server, () => {
        server.closeIdleConnections();
        connections.closeSilent();
      }),
    kill: () => server.closeAllConnections(),
  };
}

/**
 * Creates a port for HTTP/2 and HTTP/1.1 over TLS; the client chooses. Throws a `ConfigError` in a Node
 * that can't limit HTTP/1.1 there.
 */
export function createHttpsPort(certificates: CertificateFiles, listener: WebListener): WebPort {
  const server = createSecureServer(
    {
      ...contextOf(certificates),
      allowHTTP1: true,
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: certificates.requiresClientCertificate,
      rejectUnauthorized: certificates.requiresClientCertificate,
      settings: { maxConcurrentStreams: maxStreamsPerConnection, maxHeaderListSize: maxHeaderSize },
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
    },
    listener,
  );
  limitHttp1(server, { ...timeouts, maxHeadersCount });
  certificates.onChange(() => server.setSecureContext(contextOf(certificates)));

  const connections = new Connections(server);
  // A connection can fail between the end of its handshake and the first protocol: without a listener
  // its error would end the process.
  server.on('secureConnection', (socket) => socket.on('error', () => socket.destroy()));

  const sessions = new Set<ServerHttp2Session>();
  let stopping = false;
  server.on('session', (session) => {
    if (stopping) session.close();
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    limitSession(session);
  });

  return {
    server,
    connections,
    stop() {
      stopping = true;
      // Sends GOAWAY, and closes the session after its last stream.
      for (const session of sessions) session.close();
      return close(server, () => {
        closeIdleHttp1(server);
        connections.closeSilent();
      });
    },
    kill() {
      for (const session of sessions) session.destroy();
      connections.closeAll();
    },
  };
}

function contextOf({ current }: CertificateFiles) {
  const { cert, key, clientCa } = current;
  return { cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }), minVersion: 'TLSv1.2' as const };
}

/**
 * Closes a server. Connections that become idle only after that would stay open for their keep-alive
 * time, so `closeIdle` runs again and again until the last one is gone.
 */
function close(server: Server, closeIdle: () => void): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(closeIdle, sweepMs);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
  });
}
