import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server } from 'node:net';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import type { RunningServer } from '../implementation.ts';
import { Connections } from '../limits/connections.ts';
import { maxHeaderBytes, requestTimeoutMs } from '../limits/limits.ts';
import type { OpenRequest } from '../limits/open-requests.ts';

/** Handles one request. Rejects if the response could not be delivered. */
export type WebHandler = (request: IncomingMessage, response: ServerResponse, open: OpenRequest) => Promise<void>;
export type WebListener = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that does not listen yet. */
export interface WebPort extends Pick<RunningServer, 'stop' | 'kill'> {
  readonly server: Server;
  readonly connections: Connections;
}

const httpOptions = {
  // Browsers can't read the 431 for longer ones, because Node sends it before CORS headers can be set.
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 10_000,
  requestTimeout: requestTimeoutMs,
  // Node would take the first of several credentials. Joined they are none.
  joinDuplicateHeaders: true,
  // Longer than the 60 s of most load balancers, which must not send a request into a closing connection.
  keepAliveTimeout: 65_000,
  // How often Node checks for requests past their timeout.
  connectionsCheckingInterval: 5_000,
};
// Node silently drops further headers. Browsers and proxies send about forty.
const maxHeadersCount = 200;

const sweepMs = 50;
const handshakeTimeoutMs = 10_000;

/** Creates an HTTP/1.1 port, in cleartext or, with certificates, over TLS. */
export function createPort(certificates: CertificateFiles | undefined, listener: WebListener): WebPort {
  const server =
    certificates === undefined ? createServer(httpOptions, listener) : createTlsServer(certificates, listener);
  server.maxHeadersCount = maxHeadersCount;
  const connections = new Connections(server);
  return {
    server,
    connections,
    stop: () =>
      // Connections that become idle after the close would stay open for their keep-alive time.
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
      ...httpOptions,
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
