import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultConsolePort, defaultPorts, readConfig, type ServiceName } from '../../shared/config/config.ts';
import { readSchema } from '../../shared/config/database.ts';
import { ConfigError, ConfigErrors, type Environment, readPort, readSwitch } from '../../shared/config/variables.ts';

/** The folder of the project, independent of the working directory. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A port and the variable that it comes from. */
export interface NamedPort {
  readonly variable: string;
  readonly port: number;
}

/** The ports of one service. */
export interface ServicePorts {
  readonly grpc: NamedPort;
  readonly web: NamedPort;
  /** Undefined: metrics are off. */
  readonly metrics: NamedPort | undefined;
}

/** The settings of `npm start` (design 1). */
export interface StartSettings {
  readonly dataDir: string;
  /** The IP address that all ports are bound to. */
  readonly bindAddress: string;
  /** The host in the printed URLs, under which this machine reaches the services. */
  readonly host: string;
  /** Undefined: use the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** The schema of all tables. */
  readonly schema: string;
  /** The port of the embedded PostgreSQL; undefined: any free one. */
  readonly embeddedPort: number | undefined;
  readonly seedDemo: boolean;
  readonly slot: ServicePorts;
  readonly coupon: ServicePorts;
  /** The port of the staff console. */
  readonly console: NamedPort;
}

const localOrigins = ['http', 'https'].flatMap((scheme) =>
  ['localhost', '127.0.0.1', '[::1]'].map((host) => `${scheme}://${host}:*`),
);

/** Whoever reaches the demo could use its link, so it keeps to this machine. */
const defaultBindAddress = '127.0.0.1';

/** The business of the demo. A variable that is set wins. */
const demoTimeZone = 'Asia/Kolkata';
const demoCurrency = 'INR';

/** Returns the folder of the embedded database and the secrets. */
export function readDataDir(env: Environment): string {
  return path.resolve(projectRoot, env.DATA_DIR || '.data');
}

/** Reads the variables of `npm start`. Throws a `ConfigError` with a line for each variable that is wrong. */
export function readStartSettings(env: Environment): StartSettings {
  const errors = new ConfigErrors();
  const embeddedPort = readPort(env, 'EMBEDDED_PG_PORT', 0, errors);
  const bindAddress = env.BIND_ADDRESS || defaultBindAddress;
  const settings: StartSettings = {
    dataDir: readDataDir(env),
    bindAddress,
    host: hostOf(bindAddress),
    databaseUrl: env.DATABASE_URL || undefined,
    // `addServiceErrors` reports its errors.
    schema: readSchema(env, new ConfigErrors()),
    embeddedPort: embeddedPort === 0 ? undefined : embeddedPort,
    seedDemo: readSeedDemo(env, errors),
    slot: readPorts('slot', env, errors),
    coupon: readPorts('coupon', env, errors),
    console: readNamedPort('CONSOLE_PORT', defaultConsolePort, env, errors),
  };
  addServiceErrors(env, errors);
  addTlsErrors(env, errors);
  errors.throwIfAny();
  return settings;
}

/** Returns the environment of all services. `secret` is the one that `npm start` generated, if any. */
export function serviceEnvironment(env: Environment, databaseUrl: string, secret: string | undefined) {
  const bindAddress = env.BIND_ADDRESS || defaultBindAddress;
  const host = hostOf(bindAddress);
  const consoleOrigin = `http://${host}:${env.CONSOLE_PORT || defaultConsolePort}`;
  return {
    ...env,
    BIND_ADDRESS: bindAddress,
    DATABASE_URL: databaseUrl,
    // A given DATABASE_DIRECT_URL applies only together with a given DATABASE_URL.
    DATABASE_DIRECT_URL: (env.DATABASE_URL && env.DATABASE_DIRECT_URL) || databaseUrl,
    CORS_ORIGINS: env.CORS_ORIGINS || [...localOrigins, consoleOrigin].join(','),
    CONSOLE_SLOT_URL: env.CONSOLE_SLOT_URL || `http://${host}:${env.SLOT_WEB_PORT || defaultPorts.slot.web}`,
    CONSOLE_COUPON_URL: env.CONSOLE_COUPON_URL || `http://${host}:${env.COUPON_WEB_PORT || defaultPorts.coupon.web}`,
    ...(readSeedDemo(env, new ConfigErrors()) && {
      BUSINESS_TIME_ZONE: env.BUSINESS_TIME_ZONE || demoTimeZone,
      BUSINESS_CURRENCY: env.BUSINESS_CURRENCY || demoCurrency,
    }),
    ...(secret === undefined ? {} : { AUTH_JWT_SECRET: secret }),
  };
}

/** Whether the demo goes into an empty database. A later start of its database has the same setting, and so the same business. */
function readSeedDemo(env: Environment, errors: ConfigErrors): boolean {
  return readSwitch(env, 'SEED_DEMO', !env.DATABASE_URL, errors);
}

/** Whether `npm start` generates a secret. It does so only for a database of its own. */
export function needsOwnSecret(env: Environment): boolean {
  return !env.DATABASE_URL && !env.AUTH_JWT_SECRET && !env.AUTH_JWKS_URL;
}

function hostOf(bindAddress: string): string {
  if (['0.0.0.0', '127.0.0.1', '::'].includes(bindAddress)) return 'localhost';
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress;
}

function readPorts(service: ServiceName, env: Environment, errors: ConfigErrors): ServicePorts {
  const read = (kind: string, unset: number): NamedPort =>
    // `addServiceErrors` reports the variable's other errors.
    readNamedPort(`${service.toUpperCase()}_${kind}_PORT`, unset, env, errors, new ConfigErrors());
  const { grpc, web } = defaultPorts[service];
  const hasMetrics = env[`${service.toUpperCase()}_METRICS_PORT`];
  return { grpc: read('GRPC', grpc), web: read('WEB', web), metrics: hasMetrics ? read('METRICS', 0) : undefined };
}

function readNamedPort(
  variable: string,
  unset: number,
  env: Environment,
  errors: ConfigErrors,
  otherErrors = errors,
): NamedPort {
  if (Number(env[variable] || unset) === 0) errors.add(`${variable} is 0: npm start needs a port to print`);
  return { variable, port: readPort(env, variable, unset, otherErrors) };
}

/** Adds a line for each TLS variable, because the printed commands and the health checks use cleartext. */
function addTlsErrors(env: Environment, errors: ConfigErrors): void {
  for (const name of ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'TLS_CLIENT_CA_FILE']) {
    if (!env[name]) continue;
    errors.add(`${name} is set: npm start serves in cleartext, unset it or start the services themselves`);
  }
}

/** Adds the errors that the services themselves would report, without duplicates. */
function addServiceErrors(env: Environment, errors: ConfigErrors): void {
  const placeholder = needsOwnSecret(env) ? '-'.repeat(32) : undefined;
  const given = serviceEnvironment(env, env.DATABASE_URL || 'postgres://localhost', placeholder);
  const lines = new Set<string>();
  for (const service of ['slot', 'coupon'] as const) {
    try {
      readConfig(service, given);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const line of error.message.split('\n')) lines.add(line);
    }
  }
  for (const line of lines) errors.add(line);
}
