import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import type { RunningServer, ServedCalls } from '../implementation.ts';
import { maxMessageBytes, maxStreamsPerConnection } from '../limits/limits.ts';
import { procedurePath } from '../procedure.ts';
import { createServerCredentials } from './credentials.ts';
import { mount } from './mount.ts';
import { addReflection } from './reflection.ts';
import { guardRequests } from './requests.ts';

export interface GrpcServer extends RunningServer {
  /** Sets the health of every service, which says whether calls would succeed now, until the server drains. */
  setReady(isReady: boolean): void;
}

/**
 * Serves native gRPC with `grpc.health.v1` and reflection on a port (0 for a free one), in cleartext or, with
 * certificates, over TLS. Rejects if the port can't be bound.
 *
 * @param keepaliveMs the interval of keepalive pings. A ping must be answered within half of it.
 */
export async function serveGrpc(
  served: ServedCalls,
  { host, port }: { readonly host: string; readonly port: number },
  certificates: CertificateFiles | undefined,
  keepaliveMs = 20_000,
): Promise<GrpcServer> {
  // By default grpc-js logs malformed headers to stderr, including the credential.
  if (process.env.GRPC_VERBOSITY === undefined) setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    'grpc.max_receive_message_length': maxMessageBytes,
    // When a client breaks the protocol or floods with resets, nghttp2 ends the session, but Node keeps the connection.
    // Once the client is gone, only keepalive closes it.
    'grpc.keepalive_time_ms': keepaliveMs,
    'grpc.keepalive_timeout_ms': keepaliveMs / 2,
    'grpc.max_concurrent_streams': maxStreamsPerConnection,
    // Channelz would count and time each call, but is not served.
    'grpc.enable_channelz': 0,
    // A client reconnects with its next call.
    'grpc.max_connection_idle_ms': 5 * 60_000,
  });
  const { implementations, interceptors } = served;
  for (const implementation of implementations) mount(server, implementation, interceptors);
  const services = implementations.map(({ service }) => service);
  const healthNames = ['', ...services.map(({ typeName }) => typeName)];
  const health = new HealthImplementation(Object.fromEntries(healthNames.map((name) => [name, 'SERVING'])));
  health.addToServer(server);
  addReflection(server, services);
  const boundPort = await bind(server, host, port, certificates);

  const methods = implementations.flatMap(({ rpcs }) => rpcs.map(({ method }) => method));
  const streamingPaths = methods.filter(({ methodKind }) => methodKind !== 'unary').map(procedurePath);
  const traffic = guardRequests(server, served, new Set(streamingPaths));
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
        // Over TLS, a shutdown would wait for connections that never begin their handshake.
        for (const connections of traffic.connections) connections.closeSilent();
      }),
    kill() {
      server.forceShutdown();
      // Without channelz, grpc-js does not close its connections itself.
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
