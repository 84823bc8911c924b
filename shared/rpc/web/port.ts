import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server } from 'node:net';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import { Connections } from '../limits/connections.ts';
import { requestTimeoutMs } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';

/** Handles one request; rejects when the response could not be delivered. */
export type WebHandler = (request: IncomingMessage, response: ServerResponse, open: OpenRequest) => Promise<void>;
export type WebListener = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that does not listen yet. */
export interface WebPort {
  readonly server: Server;
  readonly connections: Connections;
  /** Accepts no more connections; resolves once the calls in flight have ended. */
  stop(): Promise<void>;
  /** Closes every connection at once. */
  kill(): void;
}

const limits = {
  // A query by GET carries its request in the URL; 64 KiB hold some 4,000 ids. A browser can't read the 431
  // of a longer one, because Node sends it before CORS headers can be set.
  maxHeaderSize: 64 * 1024,
  headersTimeout: 10_000,
  requestTimeout: requestTimeoutMs,
  // Longer than the 60 s for which most load balancers keep their own side: they must not send a
  // request into a connection that is closing.
  keepAliveTimeout: 65_000,
  // How often Node looks for requests that are past their timeout.
  connectionsCheckingInterval: 5_000,
};
// Node drops further headers silently; browsers and proxies send some forty.
const maxHeadersCount = 200;

const sweepMs = 50;
const handshakeTimeoutMs = 10_000;

/** Creates a port for HTTP/1.1: in cleartext, or over TLS with certificates. */
export function createPort(certificates: CertificateFiles | undefined, listener: WebListener): WebPort {
  const server = certificates === undefined ? createServer(limits, listener) : createTlsServer(certificates, listener);
  server.maxHeadersCount = maxHeadersCount;
  const connections = new Connections(server);
  return {
    server,
    connections,
    stop: () =>
      // Connections that become idle only after the close would stay open for their keep-alive time.
      new Promise((resolve) => {
        const sweep = setInterval(() => {
          server.closeIdleConnections();
          connections.closeSilent();
        }, sweepMs);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
    kill: () => connections.closeAll(),
  };
}

function createTlsServer(certificates: CertificateFiles, listener: WebListener) {
  const isRequired = certificates.requiresClientCertificate;
  const server = createSecureServer(
    {
      ...limits,
      ...contextOf(certificates),
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: isRequired,
      rejectUnauthorized: isRequired,
    },
    listener,
  );
  certificates.onChange(() => server.setSecureContext(contextOf(certificates)));
  return server;
}

function contextOf({ current }: CertificateFiles) {
  const { cert, key, clientCa } = current;
  return { cert, key, ...(clientCa === undefined ? {} : { ca: clientCa }), minVersion: 'TLSv1.2' as const };
}
