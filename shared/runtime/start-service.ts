import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createAuthenticator } from '../auth/authenticator.ts';
import { createTokenVerifier } from '../auth/token.ts';
import type { ServiceConfig } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';
import { Database } from '../db/database.ts';
import { assertMigrated } from '../db/migrate.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import { CertificateFiles } from '../rpc/certificates.ts';
import { type GrpcServer, serveGrpc } from '../rpc/grpc/server.ts';
import type { Implementation } from '../rpc/implementation.ts';
import { createAdmission } from '../rpc/interceptors/admission.ts';
import { createInterceptors } from '../rpc/interceptors/interceptors.ts';
import { serveWeb, type WebServer } from '../rpc/web/server.ts';
import { CallMetrics } from '../telemetry/call-metrics.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { serveMetrics } from '../telemetry/metrics-server.ts';
import { watchProcess } from '../telemetry/process-metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { ShutdownStack } from './shutdown.ts';

/** A service that answers on both of its ports. */
export interface RunningService {
  readonly grpcPort: number;
  readonly webPort: number;
  /** Undefined where no metrics are asked for. */
  readonly metricsPort: number | undefined;
  /** Drains, finishes the calls in flight, closes; at the latest after `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** What a service builds its procedures from. */
export interface ServiceParts {
  readonly config: ServiceConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
  readonly metrics: Metrics;
  /** Undefined where no traces are asked for. */
  readonly tracing: Tracing | undefined;
  /** Aborts when the service begins to stop: ends what would wait or stream on. */
  readonly draining: AbortSignal;
}

export type BuildService = (parts: ServiceParts) => readonly Implementation[] | Promise<readonly Implementation[]>;

/** What a stop gives the calls in flight. */
export const shutdownDeadlineMs = 20_000;
const farewellMs = 1_000;
const readinessProbeMs = 1_000;

/**
 * Starts a service: database, procedures, both ports. Rejects with a `ConfigError` when the
 * database is not migrated or a port is taken; nothing is left running then.
 */
export async function startService(
  config: ServiceConfig,
  logger: Logger,
  build: BuildService,
): Promise<RunningService> {
  const shutdown = new ShutdownStack(logger);
  const draining = new AbortController();
  const stop = (deadlineMs = config.drainMs + shutdownDeadlineMs) => shutdown.stop(deadlineMs);
  try {
    const certificates = config.tls && (await CertificateFiles.open(config.tls, logger));
    shutdown.push({ name: 'certificate files', stop: () => certificates?.close() });
    const tracing = config.sendsTraces
      ? await startTracing(config.database.applicationName, logger, shutdown)
      : undefined;
    const database = new Database(config.database, logger, tracing);
    shutdown.push({ name: 'database', stop: () => database.close() });
    const metrics = new Metrics(logger);
    const metricsPort = await startMetrics(config, metrics, logger, shutdown);
    const calls = metricsPort === undefined ? undefined : new CallMetrics(metrics);
    database.registerMetrics(metrics);
    await assertMigrated(database);
    const implementations = await build({
      config,
      database,
      logger,
      shutdown,
      metrics,
      tracing,
      draining: draining.signal,
    });
    const authenticate = createAuthenticator(await createTokenVerifier(config.auth, metrics), database, metrics);
    const admission = createAdmission(config.limits, logger);
    const interceptors = createInterceptors({ logger, authenticate, admission, calls, tracing });
    const ports: (GrpcServer | WebServer)[] = [];
    // Both at once: while one finished its calls the other would still take new ones.
    shutdown.push({
      name: 'ports',
      stop: () => Promise.all(ports.map((port) => port.stop())),
      async kill(stopped) {
        admission.end();
        // What does not end by itself now has its connection cut.
        await Promise.race([Promise.allSettled([stopped]), pause(farewellMs)]);
        for (const port of ports) port.kill();
      },
    });
    const { bindAddress: host, grpcPort, webPort } = config;
    const grpc = await serveGrpc(implementations, interceptors, { host, port: grpcPort }, certificates).catch(
      refusePort(host, grpcPort),
    );
    ports.push(grpc);
    const web = await serveWeb(implementations, interceptors, {
      host,
      port: webPort,
      corsOrigins: config.corsOrigins,
      logger,
      certificates,
      isReady: () => database.answers(AbortSignal.timeout(readinessProbeMs)),
    }).catch(refusePort(host, webPort));
    ports.push(web);
    shutdown.push({
      name: 'health',
      async stop() {
        grpc.drain();
        web.drain();
        // A load balancer that asks for health needs this long to send its calls elsewhere.
        await pause(config.drainMs);
        draining.abort(fail(commonErrors.stopping));
      },
    });
    return { grpcPort: grpc.port, webPort: web.port, metricsPort, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What is stopped before it still adds its spans. The SDK is loaded only here. */
async function startTracing(serviceName: string, logger: Logger, shutdown: ShutdownStack): Promise<Tracing> {
  const sdk = await import('../telemetry/tracing-sdk.ts');
  const { tracing, stop } = sdk.startTracing(serviceName, logger);
  shutdown.push({ name: 'traces', stop });
  return tracing;
}

/** Metrics are told until all calls have ended. Gives the port; undefined when none is asked for. */
async function startMetrics(
  { bindAddress: host, metricsPort: port }: ServiceConfig,
  metrics: Metrics,
  logger: Logger,
  shutdown: ShutdownStack,
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  shutdown.push({ name: 'process metrics', stop: watchProcess(metrics) });
  const server = await serveMetrics(metrics.registry, { host, port }, logger).catch(refusePort(host, port));
  shutdown.push({ name: 'metrics port', stop: server.stop });
  return server.port;
}

function refusePort(host: string, port: number) {
  return (error: unknown): never => {
    const text = error instanceof Error ? error.message : String(error);
    if (text.includes('EADDRNOTAVAIL')) throw new ConfigError(`BIND_ADDRESS ${host} is no address of this machine`);
    if (text.includes('EADDRINUSE')) throw new ConfigError(`port ${port} is in use by another process`);
    if (text.includes('EACCES')) throw new ConfigError(`port ${port} needs rights that this process lacks`);
    throw error;
  };
}
