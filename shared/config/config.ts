import { Refusals, readCount, readLimit, readList, readMilliseconds, readPort, readUrl } from './variables.ts';

export type ServiceName = 'slot' | 'coupon';

export interface DatabaseConfig {
  readonly url: string;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly connectionTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

export type AuthConfig =
  | { readonly kind: 'secret'; readonly secret: string; readonly issuer?: string; readonly audience?: string }
  | { readonly kind: 'jwks'; readonly url: URL; readonly issuer: string; readonly audience: string };

/** What one service needs to run (design 1). */
export interface ServiceConfig {
  readonly grpcPort: number;
  readonly webPort: number;
  /** How many processes share the ports. */
  readonly processes: number;
  readonly database: DatabaseConfig;
  /** How many calls one process works on at once. */
  readonly limits: { readonly calls: number; readonly streams: number };
  readonly auth: AuthConfig;
  readonly corsOrigins: readonly string[];
  readonly appUrl: string;
  readonly couponCodePrefix: string;
  readonly redisUrl: string | undefined;
  readonly storeRefreshDelayMs: number;
  readonly logLevel: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultPorts = { slot: { grpc: 50051, web: 8051 }, coupon: { grpc: 50052, web: 8052 } };
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/**
 * Reads the variables of design 1 for one service. Throws a `ConfigError` with a line for each
 * variable that is wrong, before anything is connected or listens.
 */
export function readConfig(service: ServiceName, env: Environment): ServiceConfig {
  const refusals = new Refusals();
  const prefix = service.toUpperCase();
  const ports = defaultPorts[service];
  const config: ServiceConfig = {
    grpcPort: readPort(env, `${prefix}_GRPC_PORT`, ports.grpc, refusals),
    webPort: readPort(env, `${prefix}_WEB_PORT`, ports.web, refusals),
    processes: readCount(env, 'PROCESSES', 1, refusals),
    database: {
      url: readDatabaseUrl(env, refusals),
      applicationName: `${service}-service`,
      poolSize: 10,
      connectionTimeoutMs: 2_000,
      statementTimeoutMs: 30_000,
    },
    limits: {
      calls: readLimit(env, 'MAX_CALLS_IN_FLIGHT', 1_000, refusals),
      streams: readLimit(env, 'MAX_STREAMS', 1_000, refusals),
    },
    auth: readAuth(env, refusals),
    corsOrigins: readList(env, 'CORS_ORIGINS'),
    appUrl: readUrl(env, 'APP_URL', ['http:', 'https:'], refusals)?.replace(/\/+$/, '') ?? 'http://localhost:3000',
    couponCodePrefix: readCouponCodePrefix(env, refusals),
    redisUrl: readUrl(env, 'REDIS_URL', ['redis:', 'rediss:'], refusals),
    storeRefreshDelayMs: readMilliseconds(env, 'STORE_REFRESH_DELAY_MS', 2000, refusals),
    logLevel: readLogLevel(env, refusals),
  };
  refusals.throwIfAny();
  return config;
}

function readDatabaseUrl(env: Environment, refusals: Refusals): string {
  const url = readUrl(env, 'DATABASE_URL', ['postgres:', 'postgresql:'], refusals);
  if (url === undefined && !env.DATABASE_URL) {
    refusals.add('DATABASE_URL is not set: give a PostgreSQL URL, or use npm start, which brings its own');
  }
  return url ?? '';
}

function readAuth(env: Environment, refusals: Refusals): AuthConfig {
  const { AUTH_JWT_SECRET: secret, AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = env;
  const jwksUrl = readUrl(env, 'AUTH_JWKS_URL', ['https:', 'http:'], refusals);
  if (secret && env.AUTH_JWKS_URL) {
    refusals.add('AUTH_JWT_SECRET and AUTH_JWKS_URL are both set: set one of them');
  }
  if (jwksUrl !== undefined) {
    if (!issuer) refusals.add('AUTH_ISSUER is not set: AUTH_JWKS_URL needs the issuer of its tokens');
    if (!audience) refusals.add('AUTH_AUDIENCE is not set: without it any token of the issuer would be taken');
    return { kind: 'jwks', url: new URL(jwksUrl), issuer: issuer ?? '', audience: audience ?? '' };
  }
  if (!secret && !env.AUTH_JWKS_URL) {
    refusals.add('AUTH_JWT_SECRET or AUTH_JWKS_URL is not set: set one of them');
  } else if (secret && Buffer.byteLength(secret) < 32) {
    refusals.add('AUTH_JWT_SECRET is shorter than 32 bytes: try `openssl rand -base64 48`');
  }
  return {
    kind: 'secret',
    secret: secret ?? '',
    ...(issuer ? { issuer } : {}),
    ...(audience ? { audience } : {}),
  };
}

function readCouponCodePrefix(env: Environment, refusals: Refusals): string {
  const prefix = env.COUPON_CODE_PREFIX || 'DC';
  if (!/^[A-Z]{2}$/.test(prefix)) {
    refusals.add('COUPON_CODE_PREFIX must be exactly two upper-case letters, such as DC');
  }
  return prefix;
}

function readLogLevel(env: Environment, refusals: Refusals): string {
  const level = env.LOG_LEVEL || 'info';
  if (!logLevels.includes(level)) refusals.add(`LOG_LEVEL must be one of ${logLevels.join(', ')}`);
  return level;
}
