import { logVerbosity, Server, setLogVerbosity } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { http2ServersOf } from '../../internals/grpc-js.ts';
import type { CertificateFiles } from '../../tls/certificate-files.ts';
import type { Implementation } from '../implementation.ts';
import type { Interceptor } from '../interceptor.ts';
import { closeSilent, openConnections } from '../limits/connections.ts';
import { maxCallsPerConnection, maxMessageBytes } from '../limits/limits.ts';
import { procedurePath } from '../procedure-path.ts';
import { createServerCredentials } from './credentials.ts';
import { mount } from './handlers.ts';
import { LongLivedStreams } from './long-lived-streams.ts';
import { addReflection } from './reflection.ts';
import { guardStreams } from './stream-guard.ts';

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
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
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
    // For a new connection; `StreamQuota` then adapts it.
    'grpc.max_concurrent_streams': maxCallsPerConnection,
    // Counts and times each call for a channelz service, which is not served.
    'grpc.enable_channelz': 0,
    // A client reconnects with its next call.
    'grpc.max_connection_idle_ms': 5 * 60_000,
  });
  for (const implementation of implementations) mount(server, implementation, interceptors);
  const services = implementations.map(({ service }) => service);
  const healthNames = ['', ...services.map(({ typeName }) => typeName)];
  const health = new HealthImplementation(Object.fromEntries(healthNames.map((name) => [name, 'SERVING'])));
  const longLived = new LongLivedStreams(server);
  health.addToServer(longLived);
  addReflection(longLived, services);
  const boundPort = await bind(server, host, port, certificates);

  const connections = http2ServersOf(server).map((each) => openConnections(each, 'connection'));
  const methods = implementations.flatMap(({ rpcs }) => rpcs.map(({ method }) => method));
  const streamingPaths = methods.filter(({ methodKind }) => methodKind !== 'unary').map(procedurePath);
  guardStreams(server, new Set(['/grpc.health.v1.Health/Watch', ...streamingPaths]));
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
        longLived.end();
        // Over TLS the shutdown would wait for the handshake that such a connection never began.
        for (const sockets of connections) closeSilent(sockets);
      }),
    kill() {
      server.forceShutdown();
      // grpc-js closes them itself only with channelz.
      for (const sockets of connections) for (const socket of sockets) socket.destroy();
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
