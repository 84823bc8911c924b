import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Server } from 'node:net';
import type { CertificateFiles } from '../certificates.ts';
import { closeSilent, openConnections } from '../limits/connections.ts';
import { maxConnections, requestTimeoutMs } from '../limits/limits.ts';
import { limitSession } from './http2-session.ts';

export type WebRequest = IncomingMessage | Http2ServerRequest;
export type WebResponse = ServerResponse | Http2ServerResponse;
/** Answers one request; rejects when the answer could not be delivered. */
export type WebHandler = (request: WebRequest, response: WebResponse) => Promise<void>;
export type WebListener = (request: WebRequest, response: WebResponse) => void;

/** A server that does not listen yet. */
export interface WebPort {
  readonly server: Server;
  /** Takes no new connections; ends once the calls in flight have ended. */
  stop(): Promise<void>;
  /** Ends at once. */
  kill(): void;
}

const serverOptions: ServerOptions = {
  // The URL of a query by GET is its whole request, and of one that is too long a browser is not told:
  // 431 comes before CORS. 64 KiB hold some 4,000 ids.
  maxHeaderSize: 64 * 1024,
  headersTimeout: 10_000,
  requestTimeout: requestTimeoutMs,
  // How often Node looks for what is late.
  connectionsCheckingInterval: 5_000,
  // Longer than a load balancer keeps its own, which are 60 s for most: it must not send into one that closes.
  keepAliveTimeout: 65_000,
};
// Node drops those beyond without a word; browsers and proxies send some forty.
const maxHeaders = 200;

const sweepMs = 50;
const handshakeTimeoutMs = 10_000;

/** HTTP/1.1 in cleartext. */
export function createHttpPort(listener: WebListener): WebPort {
  const server = createServer(serverOptions, listener);
  server.maxConnections = maxConnections;
  server.maxHeadersCount = maxHeaders;
  const sockets = openConnections(server, 'connection');
  return {
    server,
    // A connection that falls idle after the close would be kept for its keep-alive time.
    stop: () =>
      close(server, () => {
        server.closeIdleConnections();
        closeSilent(sockets);
      }),
    kill: () => server.closeAllConnections(),
  };
}

/** HTTP/2 and HTTP/1.1 over TLS, whichever the client chooses. */
export function createHttpsPort(certificates: CertificateFiles, listener: WebListener): WebPort {
  const server = createSecureServer(
    {
      ...contextOf(certificates),
      allowHTTP1: true,
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: certificates.asksClients,
      rejectUnauthorized: certificates.asksClients,
      settings: { maxConcurrentStreams: 256, maxHeaderListSize: serverOptions.maxHeaderSize },
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
    },
    listener,
  );
  server.maxConnections = maxConnections;
  // A server of both protocols lacks those that a server of HTTP/1.1 has.
  const { keepAliveTimeout, headersTimeout, requestTimeout } = serverOptions;
  Object.assign(server, { keepAliveTimeout, headersTimeout, requestTimeout, maxHeadersCount: maxHeaders });
  certificates.onChange(() => server.setSecureContext(contextOf(certificates)));

  const sockets = openConnections(server, 'connection');
  const secureSockets = openConnections(server, 'secureConnection');
  // Without a listener, a connection that breaks between two protocols would end the process.
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
    stop() {
      stopping = true;
      // Says GOAWAY, and ends with the last stream.
      for (const session of sessions) session.close();
      return close(server, () => {
        closeIdleHttp1(server);
        closeSilent(sockets);
        closeSilent(secureSockets);
      });
    },
    kill() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function contextOf({ current }: CertificateFiles) {
  const { cert, key, clientCa } = current;
  return { cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }), minVersion: 'TLSv1.2' as const };
}

/** The types of Node do not have this one yet, of a server of both protocols. */
function closeIdleHttp1(server: object): void {
  if ('closeIdleConnections' in server && typeof server.closeIdleConnections === 'function') {
    server.closeIdleConnections();
  }
}

function close(server: Server, closeIdle: () => void): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(closeIdle, sweepMs);
    server.close(() => {
      clearInterval(sweep);
      resolve();
    });
  });
}
