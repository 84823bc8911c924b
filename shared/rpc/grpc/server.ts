import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import { maxMessageBytes, maxStreamsPerConnection } from '../limits/limits.ts';
import { procedurePath } from '../procedure-path.ts';
import type { ServedCalls } from '../served-calls.ts';
import { createServerCredentials } from './credentials.ts';
import { mount } from './handlers.ts';
import { addReflection } from './reflection.ts';
import { countRequests } from './requests.ts';

export interface GrpcServer {
  readonly port: number;
  /** Says in the health of every service whether calls would succeed now. */
  setReady(isReady: boolean): void;
  /** Sets the health of every service to NOT_SERVING for good; calls still work. */
  drain(): void;
  /** Accepts no more calls; resolves once those in flight have ended. */
  stop(): Promise<void>;
  /** Closes every connection at once. */
  kill(): void;
}

/**
 * Serves native gRPC, with `grpc.health.v1` and reflection, on a port (0 for a free one): in cleartext,
 * or over TLS with certificates. Rejects when the port can't be bound.
 *
 * @param keepaliveMs the time between two keepalive pings; half of it is the time to answer one.
 */
export async function serveGrpc(
  { implementations, interceptors, requests }: ServedCalls,
  { host, port }: { readonly host: string; readonly port: number },
  certificates: CertificateFiles | undefined,
  keepaliveMs = 20_000,
): Promise<GrpcServer> {
  // grpc-js would log malformed headers to stderr, the credential among them.
  if (process.env.GRPC_VERBOSITY === undefined) setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    // When a client breaks the protocol or floods with resets, nghttp2 ends the session but Node keeps
    // the connection. Only keepalive closes it once the client is gone.
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs / 2,
    'grpc.max_concurrent_streams': maxStreamsPerConnection,
    // Counts and times each call for a channelz service, which is not served.
    'grpc.enable_channelz': 0,
    // A client reconnects with its next call.
    'grpc.max_connection_idle_ms': 5 * 60_000,
  });
  for (const implementation of implementations) mount(server, implementation, interceptors);
  const services = implementations.map(({ service }) => service);
  const healthNames = ['', ...services.map(({ typeName }) => typeName)];
  const health = new HealthImplementation(Object.fromEntries(healthNames.map((name) => [name, 'SERVING'])));
  health.addToServer(server);
  addReflection(server, services);
  const boundPort = await bind(server, host, port, certificates);

  const methods = implementations.flatMap(({ rpcs }) => rpcs.map(({ method }) => method));
  const streamingPaths = methods.filter(({ methodKind }) => methodKind !== 'unary').map(procedurePath);
  const traffic = countRequests(server, requests, new Set(streamingPaths));
  const setHealth = (status: 'SERVING' | 'NOT_SERVING') => {
    for (const name of healthNames) health.setStatus(name, status);
  };
  let draining = false;
  return {
    port: boundPort,
    setReady(isReady) {
      if (!draining) setHealth(isReady ? 'SERVING' : 'NOT_SERVING');
    },
    drain() {
      draining = true;
      setHealth('NOT_SERVING');
    },
    stop: () =>
      new Promise((resolve, reject) => {
        server.tryShutdown((error) => (error ? reject(error) : resolve()));
        traffic.endOpenServices();
        // Over TLS the shutdown would wait for the handshake that such a connection never began.
        for (const connections of traffic.connections) connections.closeSilent();
      }),
    kill() {
      server.forceShutdown();
      // grpc-js closes them itself only with channelz.
      for (const connections of traffic.connections) connections.closeAll();
    },
  };
}

function bind(server: Server, host: string, port: number, certificates: CertificateFiles | undefined): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, createServerCredentials(certificates), (error, boundPort) =>
      error ? reject(error) : resolve(boundPort),
    );
  });
}
