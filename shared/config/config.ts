import { isIP } from 'node:net';
import { type AuthConfig, readAuth } from './auth.ts';
import { readBusinessCurrency, readBusinessTimeZone, readCallingCode } from './business.ts';
import { type DatabaseConfig, readDatabase } from './database.ts';
import { type EventsConfig, readEvents } from './events.ts';
import { readTlsFiles, type TlsFiles } from './tls.ts';
import {
  ConfigErrors,
  type Environment,
  type HostPort,
  readCount,
  readHostPorts,
  readList,
  readMilliseconds,
  readOptionalCount,
  readOptionalPort,
  readPort,
  readSwitch,
  readUrl,
} from './variables.ts';

export type ServiceName = 'slot' | 'coupon';

/** The configuration of one service (design 1). */
export interface ServiceConfig {
  /** The IP address that all ports are bound to. */
  readonly bindAddress: string;
  readonly grpcPort: number;
  readonly webPort: number;
  /** Undefined: metrics are off. */
  readonly metricsPort: number | undefined;
  /** Whether traces are sent; the exporter reads their destination from its own variables. */
  readonly sendsTraces: boolean;
  /** How long a stopping service reports NOT_SERVING before it closes its ports. */
  readonly drainMs: number;
  readonly database: DatabaseConfig;
  /** The maximum numbers of unary calls and of streams in progress, for one process. */
  readonly limits: { readonly calls: number; readonly streams: number };
  readonly auth: AuthConfig;
  /** Undefined: cleartext. */
  readonly tls: TlsFiles | undefined;
  /** The origins that may call from a browser. One that ends in `:*` stands for every port. */
  readonly corsOrigins: readonly string[];
  readonly appUrl: string;
  /** The time zone in which staff plan: an IANA name that Intl knows. */
  readonly businessTimeZone: string;
  /** The currency of all amounts, ISO 4217. Undefined: it is not known. */
  readonly businessCurrency: string | undefined;
  /** The calling code that mobile numbers are stored without, in digits. Undefined: they are stored as given. */
  readonly businessCallingCode: string | undefined;
  readonly couponCodePrefix: string;
  /** Whether every coupon procedure except Validate requires a staff identity. */
  readonly couponStaffOnly: boolean;
  /** How many coupon codes a caller of Validate may miss within a minute. Undefined: any number. */
  readonly validateMissesPerMinute: number | undefined;
  /** How long the answer to a mutation with an idempotency key is kept. */
  readonly idempotencyTtlHours: number;
  /** The approximate amount that a caller may store in an hour. */
  readonly storedMibPerHour: number;
  /** Undefined: audit entries are kept for ever. */
  readonly auditRetentionDays: number | undefined;
  /** Undefined: no webhooks are sent. */
  readonly events: EventsConfig | undefined;
  readonly redisUrl: string | undefined;
  /** The Redis Sentinels. If there are any, the host of `redisUrl` is their name for the master. */
  readonly redisSentinels: readonly HostPort[];
  /** The password of the Sentinels; the password of the master is in `redisUrl`. */
  readonly redisSentinelPassword: string | undefined;
  readonly storeRefreshDelayMs: number;
  readonly logLevel: string;
}

/** The ports that a service listens on unless its variables say otherwise. */
export const defaultPorts = { slot: { grpc: 50051, web: 8051 }, coupon: { grpc: 50052, web: 8052 } } as const;

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** The port that the staff console listens on unless its variable says otherwise. */
export const defaultConsolePort = 8050;

/**
 * Reads the environment variables of one service (design 1). Throws a `ConfigError` with a line for each variable
 * that is wrong.
 */
export function readConfig(service: ServiceName, env: Environment): ServiceConfig {
  const errors = new ConfigErrors();
  const prefix = service.toUpperCase();
  const ports = defaultPorts[service];
  const config: ServiceConfig = {
    bindAddress: readBindAddress(env, errors),
    grpcPort: readPort(env, `${prefix}_GRPC_PORT`, ports.grpc, errors),
    webPort: readPort(env, `${prefix}_WEB_PORT`, ports.web, errors),
    sendsTraces: readUrl(env, 'OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], errors) !== undefined,
    metricsPort: readOptionalPort(env, `${prefix}_METRICS_PORT`, errors),
    drainMs: readMilliseconds(env, 'DRAIN_MS', 0, errors),
    database: readDatabase(`${service}-service`, env, errors),
    limits: {
      calls: readCount(env, 'MAX_CALLS_IN_FLIGHT', 14, 100_000, errors),
      streams: readCount(env, 'MAX_STREAMS', 1_000, 100_000, errors),
    },
    auth: readAuth(env, errors),
    tls: readTlsFiles(env, errors),
    corsOrigins: readList(env, 'CORS_ORIGINS'),
    appUrl: readAppUrl(env, errors),
    businessTimeZone: readBusinessTimeZone(env, errors),
    businessCurrency: readBusinessCurrency(env, errors),
    businessCallingCode: readCallingCode(env, errors),
    couponCodePrefix: readCouponCodePrefix(env, errors),
    couponStaffOnly: readSwitch(env, 'COUPON_STAFF_ONLY', false, errors),
    validateMissesPerMinute: readOptionalCount(env, 'VALIDATE_MISSES_PER_MINUTE', 1_000_000, errors),
    idempotencyTtlHours: readCount(env, 'IDEMPOTENCY_TTL_HOURS', 24, 8_760, errors),
    storedMibPerHour: readCount(env, 'STORED_MIB_PER_HOUR', 256, 1_000_000, errors),
    auditRetentionDays: readAuditRetentionDays(env, errors),
    events: readEvents(env, errors),
    redisUrl: readUrl(env, 'REDIS_URL', ['redis:', 'rediss:'], errors),
    redisSentinels: readRedisSentinels(env, errors),
    redisSentinelPassword: env.REDIS_SENTINEL_PASSWORD || undefined,
    storeRefreshDelayMs: readMilliseconds(env, 'STORE_REFRESH_DELAY_MS', 2000, errors),
    logLevel: readLogLevel(env, errors),
  };
  errors.throwIfAny();
  return config;
}

function readRedisSentinels(env: Environment, errors: ConfigErrors): HostPort[] {
  const sentinels = readHostPorts(env, 'REDIS_SENTINELS', errors);
  if (sentinels.length > 0 && !env.REDIS_URL?.startsWith('redis:')) {
    errors.add('REDIS_URL must be redis:// and the name that REDIS_SENTINELS know the master by, without TLS');
  }
  return sentinels;
}

function readAppUrl(env: Environment, errors: ConfigErrors): string {
  let url = readUrl(env, 'APP_URL', ['http:', 'https:'], errors) ?? 'http://localhost:3000';
  // Paths are appended with a leading slash.
  while (url.endsWith('/')) url = url.slice(0, -1);
  return url;
}

/** Reads the IP address that ports are bound to. */
export function readBindAddress(env: Environment, errors: ConfigErrors): string {
  const address = env.BIND_ADDRESS || '0.0.0.0';
  if (isIP(address) === 0) errors.add(`BIND_ADDRESS must be an IP address, such as 127.0.0.1, not "${address}"`);
  return address;
}

function readCouponCodePrefix(env: Environment, errors: ConfigErrors): string {
  const prefix = env.COUPON_CODE_PREFIX || 'DC';
  if (!/^[A-Z]{2}$/.test(prefix)) {
    errors.add('COUPON_CODE_PREFIX must be exactly two upper-case letters, such as DC');
  }
  return prefix;
}

/** Reads how many days audit entries are kept; undefined: for ever. */
export function readAuditRetentionDays(env: Environment, errors: ConfigErrors): number | undefined {
  return readOptionalCount(env, 'AUDIT_RETENTION_DAYS', 36_500, errors);
}

/** Reads the least severe level of the log. */
export function readLogLevel(env: Environment, errors: ConfigErrors): string {
  const level = env.LOG_LEVEL || 'info';
  if (!logLevels.includes(level)) errors.add(`LOG_LEVEL must be one of ${logLevels.join(', ')}`);
  return level;
}
