import type { Logger } from 'pino';
import { createAuthenticator } from '../auth/authenticator.ts';
import { createTokenVerifier } from '../auth/token.ts';
import type { ServiceConfig } from '../config/config.ts';
import { ConfigError } from '../config/variables.ts';
import { Database } from '../db/database.ts';
import { assertMigrated } from '../db/migrate.ts';
import { commonErrors, fail } from './errors.ts';
import { serveGrpc } from './grpc.ts';
import type { Implementation } from './implementation.ts';
import { createInterceptors } from './interceptors.ts';
import { ShutdownStack } from './shutdown.ts';
import { serveWeb } from './web.ts';

/** A service that answers on both of its ports. */
export interface RunningService {
  readonly grpcPort: number;
  readonly webPort: number;
  /** Drains, finishes the calls in flight, closes; at the latest after `deadlineMs`. */
  stop(deadlineMs?: number): Promise<void>;
}

/** What a service builds its procedures from. */
export interface ServiceParts {
  readonly config: ServiceConfig;
  readonly database: Database;
  readonly logger: Logger;
  readonly shutdown: ShutdownStack;
  /** Aborts when the service begins to stop: ends what would wait or stream on. */
  readonly draining: AbortSignal;
}

export type BuildService = (parts: ServiceParts) => readonly Implementation[] | Promise<readonly Implementation[]>;

const shutdownDeadlineMs = 20_000;
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
  const stop = (deadlineMs = shutdownDeadlineMs) => shutdown.stop(deadlineMs);
  try {
    const database = new Database(config.database, logger);
    shutdown.push({ name: 'database', stop: () => database.close() });
    await assertMigrated(database);
    const implementations = await build({ config, database, logger, shutdown, draining: draining.signal });
    const authenticate = createAuthenticator(await createTokenVerifier(config.auth), database);
    const interceptors = createInterceptors({ logger, authenticate, limits: config.limits });
    const grpc = await serveGrpc(implementations, interceptors, config.grpcPort).catch(refusePort(config.grpcPort));
    shutdown.push({ name: 'gRPC port', stop: grpc.stop, kill: grpc.kill });
    const web = await serveWeb(implementations, interceptors, {
      port: config.webPort,
      corsOrigins: config.corsOrigins,
      logger,
      isReady: () => database.answers(AbortSignal.timeout(readinessProbeMs)),
    }).catch(refusePort(config.webPort));
    shutdown.push({ name: 'web port', stop: web.stop, kill: web.kill });
    shutdown.push({
      name: 'health',
      stop() {
        grpc.drain();
        web.drain();
        draining.abort(fail(commonErrors.stopping));
      },
    });
    return { grpcPort: grpc.port, webPort: web.port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function refusePort(port: number) {
  return (error: unknown): never => {
    const text = error instanceof Error ? error.message : String(error);
    if (text.includes('EADDRINUSE')) throw new ConfigError(`port ${port} is in use by another process`);
    if (text.includes('EACCES')) throw new ConfigError(`port ${port} needs rights that this process lacks`);
    throw error;
  };
}
