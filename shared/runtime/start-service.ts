import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { applyRetention } from '../audit/retention.ts';
import { openAuthenticator } from '../auth/authenticator.ts';
import type { ServiceConfig } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';
import { Database } from '../db/database.ts';
import { poolerProblem } from '../db/errors.ts';
import { assertMigrated } from '../db/schema.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import { serveGrpc } from '../rpc/grpc/server.ts';
import { StorageQuota } from '../rpc/idempotency/storage-quota.ts';
import type { Implementation, RunningServer } from '../rpc/implementation.ts';
import { createAdmission } from '../rpc/interceptors/admission.ts';
import { createInterceptors } from '../rpc/interceptors/interceptors.ts';
import { OpenRequests } from '../rpc/limits/open-requests.ts';
import { serveWeb } from '../rpc/web/server.ts';
import { CallMetrics } from '../telemetry/call-metrics.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { serveMetrics } from '../telemetry/metrics-server.ts';
import { watchProcess } from '../telemetry/process-metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { CertificateFiles } from '../tls/certificate-files.ts';
import { throwPortError } from './port-error.ts';
import { Readiness } from './readiness.ts';
import { ShutdownStack } from './shutdown.ts';
import { registerStorageMetrics } from './storage-metrics.ts';
import { type Sweeps, startSweeps } from './sweeps.ts';

/** A service that serves on both of its ports. */
export interface RunningService {
  readonly grpcPort: number;
  readonly webPort: number;
  /** Undefined if metrics are off. */
  readonly metricsPort: number | undefined;
  /** Drains, lets the calls in flight finish and closes everything. Aborts remaining calls after `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** The parts that a service builds its procedures from. */
export interface ServiceParts {
  readonly config: ServiceConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
  readonly metrics: Metrics;
  /** A service adds those of its own tables. */
  readonly sweeps: Sweeps;
  /** Undefined if traces are off. */
  readonly tracing: Tracing | undefined;
  /** Aborts when the ports are about to close, to end streams and waiting calls. */
  readonly draining: AbortSignal;
}

/** Builds a service's procedures. Pushes everything that it starts onto `shutdown`. */
export type BuildService = (parts: ServiceParts) => readonly Implementation[] | Promise<readonly Implementation[]>;

/** How long calls in flight may take to finish when a service stops, in addition to its drain time. */
export const shutdownDeadlineMs = 20_000;
// After the deadline, calls are aborted. Their responses have this long to reach the clients.
const lastResponsesMs = 1_000;

/**
 * Starts a service: its database, procedures and ports. Rejects with a `ConfigError` if the database is not migrated or
 * a port can't be bound, after stopping all parts that it had started.
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
    registerStorageMetrics(metrics, database);
    await assertMigrated(database, config.database.schema);
    const readiness = await Readiness.open({ database, logger, metrics });
    shutdown.push({ name: 'readiness', stop: () => readiness.stop() });
    await applyRetention(database, config.auditRetentionDays, logger);
    const parts = { config, database, logger, shutdown, metrics, sweeps: {}, tracing, draining: draining.signal };
    const implementations = await build(parts);
    startSweeps(parts);
    const quota = new StorageQuota(config.storedMibPerHour);
    const authenticator = await openAuthenticator({ config: config.auth, database, metrics, logger });
    shutdown.push({ name: 'key set', stop: () => authenticator.close() });
    const requests = new OpenRequests(authenticator);
    shutdown.push({ name: 'open requests', stop: () => requests.close() });
    const admission = createAdmission(config.limits, requests);
    admission.registerMetrics(metrics);
    const interceptors = createInterceptors({ logger, authenticator, admission, quota, database, calls, tracing });
    const served = { implementations, interceptors, requests, logger, calls };
    const ports: RunningServer[] = [];
    // Both ports stop together. If one stopped first, the other would keep accepting calls meanwhile.
    shutdown.push({
      name: 'ports',
      stop: () => Promise.all(ports.map((port) => port.stop())),
      async kill(stopped) {
        admission.end();
        await Promise.race([Promise.allSettled([stopped]), pause(lastResponsesMs)]);
        for (const port of ports) port.kill();
      },
    });
    const { bindAddress: host, grpcPort, webPort } = config;
    const grpc = await serveGrpc(served, { host, port: grpcPort }, certificates).catch(throwPortError(host, grpcPort));
    ports.push(grpc);
    readiness.onChange((isReady) => grpc.setReady(isReady));
    const web = await serveWeb(served, {
      host,
      port: webPort,
      corsOrigins: config.corsOrigins,
      certificates,
      openApi: await readFile(new URL(`../gen/openapi/${config.database.applicationName}.json`, import.meta.url)),
      isReady: () => readiness.isReady,
    }).catch(throwPortError(host, webPort));
    ports.push(web);
    shutdown.push({
      name: 'health',
      async stop() {
        grpc.drain();
        web.drain();
        // Gives load balancers time to see NOT_SERVING and send new calls elsewhere.
        await pause(config.drainMs);
        draining.abort(fail(commonErrors.stopping));
      },
    });
    return { grpcPort: grpc.port, webPort: web.port, metricsPort, stop };
  } catch (error) {
    await stop();
    const problem = poolerProblem(error);
    throw problem === undefined ? error : new ConfigError(`the database at DATABASE_URL is behind ${problem}`);
  }
}

/** Starts tracing. The SDK is loaded only here, so that a service without traces does not load it. */
async function startTracing(serviceName: string, logger: Logger, shutdown: ShutdownStack): Promise<Tracing> {
  const sdk = await import('../telemetry/tracing-sdk.ts');
  const { tracing, stop } = sdk.startTracing(serviceName, logger);
  shutdown.push({ name: 'traces', stop });
  return tracing;
}

/** Serves the metrics until all calls have ended. Returns the port; undefined if metrics are off. */
async function startMetrics(
  { bindAddress: host, metricsPort: port }: ServiceConfig,
  metrics: Metrics,
  logger: Logger,
  shutdown: ShutdownStack,
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  shutdown.push({ name: 'process metrics', stop: watchProcess(metrics) });
  const server = await serveMetrics(metrics.registry, { host, port }, logger).catch(throwPortError(host, port));
  shutdown.push({ name: 'metrics port', stop: server.stop });
  return server.port;
}
