import { setTimeout as delay } from 'node:timers/promises';
import { withArguments } from '../config/arguments.ts';
import { ConfigError } from '../config/variables.ts';
import { migrate } from '../db/migrate.ts';
import { ShutdownStack } from '../runtime/shutdown.ts';
import { createLogger } from '../telemetry/logger.ts';
import { untilServing } from './health.ts';
import { assertPortsFree } from './ports.ts';
import { keepTokenSecret, openDataFolder } from './postgres/data-folder.ts';
import { startPostgres, untilUnused } from './postgres/postgres.ts';
import { seedDemo } from './seed/seed.ts';
import { type ServiceProcess, startServiceProcess } from './services.ts';
import {
  type Environment,
  needsOwnSecret,
  readStartSettings,
  type StartSettings,
  serviceEnvironment,
} from './settings.ts';
import { signingSecret, signToken } from './sign-token.ts';
import { describeStart } from './summary.ts';

const shutdownDeadlineMs = 40_000;
const quietMs = 150;

const shutdown = new ShutdownStack(createLogger('npm start', 'warn'));
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopping.abort(new Stopped()));
}

// Whoever started it with a channel to it is gone.
process.once('disconnect', () => stopping.abort(new Stopped()));

/** Why the run ends when it was asked to. */
class Stopped extends Error {}

process.exitCode = await run();
process.exit();

async function run(): Promise<number> {
  try {
    const given = withArguments(process.env);
    await start(readStartSettings(given), given);
    await aborted(stopping.signal);
    return 0;
  } catch (error) {
    const reason = stopping.signal.aborted ? stopping.signal.reason : error;
    if (reason instanceof Stopped) return 0;
    process.stderr.write(`${explain(reason)}\n`);
    return 1;
  } finally {
    await shutdown.stop(shutdownDeadlineMs);
  }
}

/** Starts all of it. Whatever ends by itself from here on ends the run. */
async function start(settings: StartSettings, given: Environment): Promise<void> {
  const { signal } = stopping;
  const database = await openDatabase(settings);
  signal.throwIfAborted();
  const secret = needsOwnSecret(given) ? await keepTokenSecret(settings.dataDir) : undefined;
  const env = serviceEnvironment(given, database.url, secret);
  const migrations = await migrate(env.DATABASE_DIRECT_URL).catch((error: unknown) => {
    throw new ConfigError(`the database can't be migrated: ${explain(error)}`);
  });
  signal.throwIfAborted();
  const seeded = settings.seedDemo && (await seedDemo(database.url, new Date()));
  signal.throwIfAborted();
  const services = (['slot-service', 'coupon-service'] as const).map((name) => watch(name, env));
  const { host, slot, coupon } = settings;
  const address = host === 'localhost' ? '127.0.0.1' : host;
  await Promise.all([slot, coupon].map(({ grpc, web }) => untilServing(address, grpc.port, web.port, signal)));
  await untilQuiet(services);
  signal.throwIfAborted();
  const token = await signStaffToken(env.AUTH_JWT_SECRET);
  const summary = describeStart({ settings, database: database.name, migrations, seeded, token });
  process.stdout.write(`${summary}\n`);
}

async function openDatabase(settings: StartSettings): Promise<{ url: string; name: string }> {
  const { databaseUrl, dataDir, embeddedPort } = settings;
  if (databaseUrl !== undefined) {
    await assertPortsFree(settings);
    return { url: databaseUrl, name: 'the one at DATABASE_URL' };
  }
  await openDataFolder(dataDir);
  await untilUnused(dataDir);
  await assertPortsFree(settings);
  process.stdout.write('Starting PostgreSQL...\n');
  const postgres = await startPostgres(dataDir, embeddedPort, stopping.signal);
  shutdown.push({ name: 'PostgreSQL', stop: () => postgres.stop(), kill: () => postgres.kill() });
  void postgres.ended.then(endWith);
  return { url: postgres.url, name: `embedded PostgreSQL in ${dataDir}` };
}

function watch(name: string, env: NodeJS.ProcessEnv): ServiceProcess {
  const service = startServiceProcess(name, env);
  shutdown.push({ name, stop: () => service.stop(), kill: () => service.kill() });
  void service.ended.then(endWith);
  return service;
}

/** Ends the run for a reason; the first one counts. */
function endWith(reason: string): void {
  stopping.abort(new ConfigError(`${reason}: stopping everything`));
}

/** Lets the services write what they write at their start, so that the summary comes last. */
async function untilQuiet(services: readonly ServiceProcess[]): Promise<void> {
  const latest = Date.now() + 10 * quietMs;
  const isQuiet = () => services.every((service) => Date.now() - service.lastWroteAt() > quietMs);
  while (!isQuiet() && Date.now() < latest) await delay(quietMs / 5);
}

async function signStaffToken(secret: string | undefined): Promise<string | undefined> {
  if (!secret) return undefined;
  const { AUTH_ISSUER: issuer, AUTH_AUDIENCE: audience } = process.env;
  return signToken(signingSecret(secret), {
    subject: 'staff-1',
    staffId: 1,
    lifetimeSeconds: 8 * 3_600,
    issuer,
    audience,
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  // A connection refused over several addresses has no message of its own.
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  return inner instanceof Error ? inner.message : String(inner);
}
