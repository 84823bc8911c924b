import { isIP } from 'node:net';
import { readTlsFiles, type TlsFiles } from './tls.ts';
import {
  ConfigErrors,
  type HostPort,
  readCount,
  readHostPorts,
  readLimit,
  readList,
  readMilliseconds,
  readOptionalPort,
  readPort,
  readSwitch,
  readUrl,
} from './variables.ts';

export type ServiceName = 'slot' | 'coupon';

export interface DatabaseConfig {
  readonly url: string;
  /** Past a pooler, for what needs a session of its own: LISTEN, the job queue. Unset: `url`. */
  readonly directUrl?: string;
  /** Whether statements are prepared under their names. Unset: true. */
  readonly prepare?: boolean;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly connectionTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

export type AuthConfig =
  | {
      readonly kind: 'secret';
      /** One, or two while one replaces the other. */
      readonly secrets: readonly string[];
      readonly issuer?: string;
      readonly audience?: string;
    }
  | { readonly kind: 'jwks'; readonly url: URL; readonly issuer: string; readonly audience: string };

/** What one service needs to run (design 1). */
export interface ServiceConfig {
  /** The address that all ports are bound to. */
  readonly bindAddress: string;
  readonly grpcPort: number;
  readonly webPort: number;
  /** How many processes share the ports. */
  readonly processes: number;
  /** Undefined: no metrics. */
  readonly metricsPort: number | undefined;
  /** Whether to send traces; the exporter reads where from its own variables. */
  readonly sendsTraces: boolean;
  /** How long a stop waits between NOT_SERVING and the end of the ports. */
  readonly drainMs: number;
  readonly database: DatabaseConfig;
  /** How many calls one process works on at once. */
  readonly limits: { readonly calls: number; readonly streams: number };
  readonly auth: AuthConfig;
  /** Undefined: cleartext. */
  readonly tls: TlsFiles | undefined;
  /** `http://localhost:*` stands for every port. */
  readonly corsOrigins: readonly string[];
  readonly appUrl: string;
  readonly couponCodePrefix: string;
  /** Whether all coupon procedures but Validate ask for a staff identity. */
  readonly couponStaffOnly: boolean;
  readonly redisUrl: string | undefined;
  /** Where Redis Sentinel answers; the host of `redisUrl` is then the name that they know the master by. */
  readonly redisSentinels: readonly HostPort[];
  /** Of the Sentinels; that of the master is in `redisUrl`. */
  readonly redisSentinelPassword: string | undefined;
  readonly storeRefreshDelayMs: number;
  readonly logLevel: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultPorts = { slot: { grpc: 50051, web: 8051 }, coupon: { grpc: 50052, web: 8052 } };
const postgresProtocols = ['postgres:', 'postgresql:'];
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Reads the variables of design 1 for one service. Throws a `ConfigError` with a line for each
 * variable that is wrong, before anything is connected or listens.
 */
export function readConfig(service: ServiceName, env: Environment): ServiceConfig {
  const errors = new ConfigErrors();
  const prefix = service.toUpperCase();
  const ports = defaultPorts[service];
  const databaseUrl = readDatabaseUrl(env, errors);
  const config: ServiceConfig = {
    bindAddress: readBindAddress(env, errors),
    grpcPort: readPort(env, `${prefix}_GRPC_PORT`, ports.grpc, errors),
    webPort: readPort(env, `${prefix}_WEB_PORT`, ports.web, errors),
    processes: readCount(env, 'PROCESSES', 1, errors),
    sendsTraces: readUrl(env, 'OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'], errors) !== undefined,
    metricsPort: readOptionalPort(env, `${prefix}_METRICS_PORT`, errors),
    drainMs: readMilliseconds(env, 'DRAIN_MS', 0, errors),
    database: {
      url: databaseUrl,
      directUrl: readUrl(env, 'DATABASE_DIRECT_URL', postgresProtocols, errors) ?? databaseUrl,
      prepare: readSwitch(env, 'DATABASE_PREPARE', true, errors),
      applicationName: `${service}-service`,
      poolSize: 10,
      connectionTimeoutMs: 2_000,
      statementTimeoutMs: 30_000,
    },
    limits: {
      calls: readLimit(env, 'MAX_CALLS_IN_FLIGHT', 1_000, errors),
      streams: readLimit(env, 'MAX_STREAMS', 1_000, errors),
    },
    auth: readAuth(env, errors),
    tls: readTlsFiles(env, errors),
    corsOrigins: readList(env, 'CORS_ORIGINS'),
    appUrl: readAppUrl(env, errors),
    couponCodePrefix: readCouponCodePrefix(env, errors),
    couponStaffOnly: readSwitch(env, 'COUPON_STAFF_ONLY', false, errors),
    redisUrl: readUrl(env, 'REDIS_URL', ['redis:', 'rediss:'], errors),
    redisSentinels: readRedisSentinels(env, errors),
    redisSentinelPassword: env.REDIS_SENTINEL_PASSWORD || undefined,
    storeRefreshDelayMs: readMilliseconds(env, 'STORE_REFRESH_DELAY_MS', 2000, errors),
    logLevel: readLogLevel(env, errors),
  };
  errors.throwIfAny();
  return config;
}

function readDatabaseUrl(env: Environment, errors: ConfigErrors): string {
  const url = readUrl(env, 'DATABASE_URL', postgresProtocols, errors);
  if (url === undefined && !env.DATABASE_URL) {
    errors.add('DATABASE_URL is not set: give a PostgreSQL URL, or use npm start, which brings its own');
  }
  return url ?? '';
}

function readRedisSentinels(env: Environment, errors: ConfigErrors): HostPort[] {
  const sentinels = readHostPorts(env, 'REDIS_SENTINELS', errors);
  if (sentinels.length > 0 && !env.REDIS_URL?.startsWith('redis:')) {
    errors.add('REDIS_URL must be redis:// and the name that REDIS_SENTINELS know the master by, without TLS');
  }
  return sentinels;
}

function readAuth(env: Environment, errors: ConfigErrors): AuthConfig {
  const { AUTH_JWT_SECRET: secret, AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = env;
  const jwksUrl = readUrl(env, 'AUTH_JWKS_URL', ['https:', 'http:'], errors);
  if (secret && env.AUTH_JWKS_URL) {
    errors.add('AUTH_JWT_SECRET and AUTH_JWKS_URL are both set: set one of them');
  }
  if (jwksUrl !== undefined) {
    if (!issuer) errors.add('AUTH_ISSUER is not set: AUTH_JWKS_URL needs the issuer of its tokens');
    if (!audience) errors.add('AUTH_AUDIENCE is not set: without it any token of the issuer would be taken');
    return { kind: 'jwks', url: new URL(jwksUrl), issuer: issuer ?? '', audience: audience ?? '' };
  }
  if (!secret && !env.AUTH_JWKS_URL) errors.add('AUTH_JWT_SECRET or AUTH_JWKS_URL is not set: set one of them');
  return {
    kind: 'secret',
    secrets: secret ? readSecrets(secret, errors) : [],
    ...(issuer ? { issuer } : {}),
    ...(audience ? { audience } : {}),
  };
}

/**
 * The secrets of AUTH_JWT_SECRET, of which the first signs: one, or two with a comma between them,
 * each of 32 bytes or more. A comma elsewhere is a part of the secret.
 */
export function readSecrets(text: string, errors: ConfigErrors): string[] {
  if (Buffer.byteLength(text) < 32) {
    errors.add('AUTH_JWT_SECRET is shorter than 32 bytes: try `openssl rand -base64 48`');
  }
  const parts = text.split(',').map((part) => part.trim());
  const long = parts.filter((part) => Buffer.byteLength(part) >= 32);
  if (long.length > 2 || (long.length > 0 && parts.includes(''))) {
    errors.add('AUTH_JWT_SECRET must be one secret, or two with a comma between them');
  }
  return parts.length === 2 && parts.every((part) => Buffer.byteLength(part) >= 32) ? parts : [text];
}

/** Without slashes at its end. */
function readAppUrl(env: Environment, errors: ConfigErrors): string {
  let url = readUrl(env, 'APP_URL', ['http:', 'https:'], errors) ?? 'http://localhost:3000';
  while (url.endsWith('/')) url = url.slice(0, -1);
  return url;
}

function readBindAddress(env: Environment, errors: ConfigErrors): string {
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

function readLogLevel(env: Environment, errors: ConfigErrors): string {
  const level = env.LOG_LEVEL || 'info';
  if (!logLevels.includes(level)) errors.add(`LOG_LEVEL must be one of ${logLevels.join(', ')}`);
  return level;
}
