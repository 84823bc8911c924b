import { startCouponService } from '../../services/coupon-service/service.ts';
import { startSlotService } from '../../services/slot-service/service.ts';
import { readConfig, type ServiceConfig, type ServiceName } from '../../shared/config/config.ts';
import type { RunningService } from '../../shared/runtime/start-service.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { asServiceRole } from './postgres.ts';
import { testSecret } from './tokens.ts';

const starts = { slot: startSlotService, coupon: startCouponService };

/** A real service on free ports, with a database of its own. */
export interface TestService extends RunningService {
  readonly database: TestDatabase;
  /** The parsed lines that the service has logged. */
  readonly log: Record<string, unknown>[];
  /** Stops the service, and starts it again on the same ports and database. It is down during `meanwhile`. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
}

/** The configuration of a service on free ports. On a busy machine, a connection may take longer than the default 2 s. */
export function readTestConfig(name: ServiceName, variables: Readonly<Record<string, string>>): ServiceConfig {
  const ports = ['GRPC', 'WEB', 'METRICS'].map((port) => [`${name.toUpperCase()}_${port}_PORT`, '0']);
  const config = readConfig(name, { AUTH_JWT_SECRET: testSecret, ...Object.fromEntries(ports), ...variables });
  return { ...config, database: { ...config.database, connectionTimeoutMs: 30_000 } };
}

/**
 * Starts a service with a small fixture and the rights of its role. Its `stop` also closes the database, unless that was
 * given.
 */
export async function startTestService(
  name: ServiceName,
  overrides: (config: ServiceConfig) => Partial<ServiceConfig> = () => ({}),
  given?: TestDatabase,
): Promise<TestService> {
  const database = given ?? (await createDatabase());
  if (given === undefined) await database.sql(fixture);
  const config = readTestConfig(name, {
    ...(database.variables ?? { DATABASE_URL: asServiceRole(database.url) }),
    CORS_ORIGINS: 'http://allowed.example',
    APP_URL: 'https://app.example',
    STORE_REFRESH_DELAY_MS: '100',
  });
  const log: Record<string, unknown>[] = [];
  const logger = createLogger(name, 'debug', { write: (line) => void log.push(JSON.parse(line)) });
  const start = (ports: Partial<ServiceConfig>) => starts[name]({ ...config, ...overrides(config), ...ports }, logger);
  let service = await start({});
  const { grpcPort, webPort, metricsPort } = service;
  return {
    ...{ grpcPort, webPort, metricsPort, database, log },
    async restart(meanwhile) {
      await service.stop(1_000);
      await meanwhile?.();
      service = await start({ grpcPort, webPort, metricsPort });
    },
    async stop(deadlineMs) {
      await service.stop(deadlineMs);
      if (given === undefined) await database.close();
    },
  };
}

/** Staff 1 and 2, products 1 to 20, groups 1 to 5, users 1 to 5 (3 without a name). */
export const fixture = `
  insert into staff_users (id, name) values (1, 'Asha Menon'), (2, 'Ravi Iyer');
  insert into products (id, name, images)
    select n, 'Product ' || n, array['https://images.example/' || n || '.jpg'] from generate_series(1, 20) n;
  insert into product_groups (id, name) select n, 'Group ' || n from generate_series(1, 5) n;
  insert into users (id, name, email, mobile)
    select n, case when n <> 3 then 'User ' || n end, 'user' || n || '@example.com', '900000000' || n
    from generate_series(1, 5) n;
  select setval(pg_get_serial_sequence(name, 'id'), 100)
    from unnest(array['staff_users', 'products', 'product_groups', 'users']) name;
`;
