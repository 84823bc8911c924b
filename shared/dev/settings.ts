import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../config/config.ts';
import { ConfigError, ConfigErrors, readPort } from '../config/variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The project's own folder, whatever the working directory is. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** The ports of one service, and the variables that they come from. */
export interface ServicePorts {
  readonly grpc: { readonly variable: string; readonly port: number };
  readonly web: { readonly variable: string; readonly port: number };
  /** Undefined: none. */
  readonly metrics: { readonly variable: string; readonly port: number } | undefined;
}

/** What `npm start` was asked to do (design 1). */
export interface StartSettings {
  readonly dataDir: string;
  /** Where this machine reaches the services, as it stands in a URL. */
  readonly host: string;
  /** Undefined: bring an embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Undefined: any free port. */
  readonly embeddedPort: number | undefined;
  readonly seedDemo: boolean;
  readonly slot: ServicePorts;
  readonly coupon: ServicePorts;
}

const localOrigins = ['http', 'https'].flatMap((scheme) =>
  ['localhost', '127.0.0.1', '[::1]'].map((host) => `${scheme}://${host}:*`),
);

/** The folder of the embedded database and its secrets. */
export function readDataDir(env: Environment): string {
  return path.resolve(projectRoot, env.DATA_DIR || '.data');
}

/** Reads what `npm start` needs. Throws a `ConfigError` with a line for each variable that is wrong. */
export function readStartSettings(env: Environment): StartSettings {
  const errors = new ConfigErrors();
  const embeddedPort = readPort(env, 'EMBEDDED_PG_PORT', 0, errors);
  if (env.SEED_DEMO && !['true', 'false'].includes(env.SEED_DEMO)) errors.add('SEED_DEMO must be true or false');
  const settings: StartSettings = {
    dataDir: readDataDir(env),
    host: hostOf(env.BIND_ADDRESS || '0.0.0.0'),
    databaseUrl: env.DATABASE_URL || undefined,
    embeddedPort: embeddedPort === 0 ? undefined : embeddedPort,
    seedDemo: env.SEED_DEMO ? env.SEED_DEMO === 'true' : !env.DATABASE_URL,
    slot: readPorts('slot', env, errors),
    coupon: readPorts('coupon', env, errors),
  };
  addServiceRefusals(env, errors);
  addTlsRefusals(env, errors);
  errors.throwIfAny();
  return settings;
}

/** The environment that both services get. */
export function serviceEnvironment(env: Environment, databaseUrl: string, secret: string | undefined) {
  return {
    ...env,
    DATABASE_URL: databaseUrl,
    // One that is given belongs to a database that is given.
    DATABASE_DIRECT_URL: (env.DATABASE_URL && env.DATABASE_DIRECT_URL) || databaseUrl,
    CORS_ORIGINS: env.CORS_ORIGINS ?? localOrigins.join(','),
    ...(secret === undefined ? {} : { AUTH_JWT_SECRET: secret }),
  };
}

/** Whether `npm start` makes a secret of its own: only for a database that is its own too. */
export function needsOwnSecret(env: Environment): boolean {
  return !env.DATABASE_URL && !env.AUTH_JWT_SECRET && !env.AUTH_JWKS_URL;
}

function hostOf(bindAddress: string): string {
  if (['0.0.0.0', '127.0.0.1', '::'].includes(bindAddress)) return 'localhost';
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress;
}

function readPorts(service: 'slot' | 'coupon', env: Environment, errors: ConfigErrors): ServicePorts {
  const { grpc, web } = { slot: { grpc: 50051, web: 8051 }, coupon: { grpc: 50052, web: 8052 } }[service];
  const read = (variable: string, unset: number) => {
    if (Number(env[variable] || unset) === 0) errors.add(`${variable} is 0: npm start needs a port to print`);
    // What else is wrong with it is the service's own line.
    return { variable, port: readPort(env, variable, unset, new ConfigErrors()) };
  };
  const metrics = `${service.toUpperCase()}_METRICS_PORT`;
  return {
    grpc: read(`${service.toUpperCase()}_GRPC_PORT`, grpc),
    web: read(`${service.toUpperCase()}_WEB_PORT`, web),
    metrics: env[metrics] ? read(metrics, 0) : undefined,
  };
}

/** The commands that it prints, and its own checks, are in cleartext and bring no certificate. */
function addTlsRefusals(env: Environment, errors: ConfigErrors): void {
  for (const name of ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'TLS_CLIENT_CA_FILE']) {
    if (env[name])
      errors.add(`${name} is set: npm start serves in cleartext, unset it or start the services themselves`);
  }
}

/** What the services themselves would refuse, each line once. */
function addServiceRefusals(env: Environment, errors: ConfigErrors): void {
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
