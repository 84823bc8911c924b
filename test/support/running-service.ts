import type { Transport } from '@connectrpc/connect';
import { afterAll, beforeAll } from 'vitest';
import type { ServiceConfig, ServiceName } from '../../shared/config/config.ts';
import type { TestDatabase } from './database.ts';
import { grpc, type Protocol } from './protocols.ts';
import { startTestService, type TestService } from './service.ts';
import { signToken, type TokenOptions, withToken } from './tokens.ts';

/** A service that runs while tests do, and what they call it with. */
export interface ServiceInTests extends TestService {
  readonly sql: TestService['database']['sql'];
  /** As staff user 1. */
  readonly staff: Transport;
  /** With a token, but no staff identity. */
  readonly guest: Transport;
  readonly nobody: Transport;
  /** With a token of its own. */
  as(options: TokenOptions): Transport;
}

/**
 * Starts a service, which runs while the tests of a file or of a `describe` do.
 *
 * @param given the database of a service that was declared before, if it is to run beside that one.
 */
export function runService(
  name: ServiceName,
  overrides?: (config: ServiceConfig) => Partial<ServiceConfig>,
  protocol: Protocol = grpc,
  given?: () => TestDatabase,
): ServiceInTests {
  let started: TestService | undefined;
  let connection: ReturnType<Protocol['open']> | undefined;
  const service = () => {
    if (started === undefined) throw new Error('the service runs only while tests do');
    return started;
  };
  const connected = () => {
    connection ??= protocol.open(service());
    return connection.transport;
  };
  beforeAll(async () => {
    started = await startTestService(name, overrides, given?.());
  });
  afterAll(async () => {
    connection?.close();
    await started?.stop();
  });
  /** A transport that may be had before the service runs. */
  const later = (open: () => Promise<Transport>): Transport => ({
    unary: async (...call) => (await open()).unary(...call),
    stream: async (...call) => (await open()).stream(...call),
  });
  const as = (options: TokenOptions) => later(async () => withToken(connected(), await signToken(options)));
  return {
    get grpcPort() {
      return service().grpcPort;
    },
    get webPort() {
      return service().webPort;
    },
    get metricsPort() {
      return service().metricsPort;
    },
    get database() {
      return service().database;
    },
    get log() {
      return service().log;
    },
    sql: (text, values) => service().database.sql(text, values),
    restart: (meanwhile) => service().restart(meanwhile),
    stop: (deadlineMs) => service().stop(deadlineMs),
    staff: as({ staffId: 1 }),
    guest: as({}),
    nobody: later(async () => connected()),
    as,
  };
}
