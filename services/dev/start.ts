import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { inSession } from '../../shared/config/session.ts';
import { ConfigError, type Environment } from '../../shared/config/variables.ts';
import { connectionErrorMessage } from '../../shared/db/errors.ts';
import { migrate } from '../../shared/db/migrate.ts';
import { ShutdownStack } from '../../shared/runtime/shutdown.ts';
import { createLogger } from '../../shared/telemetry/logger.ts';
import { keepConsolePageBuilt } from './console-page.ts';
import { untilReady } from './health.ts';
import { keepTokenSecret, openDataFolder } from './postgres/data-folder.ts';
import { startPostgres, untilUnused } from './postgres/postgres.ts';
import { seedDemo } from './seed/seed.ts';
import { type ServiceProcess, startServiceProcess } from './services.ts';
import { needsOwnSecret, readStartSettings, type StartSettings, serviceEnvironment } from './settings.ts';
import { signToken } from './sign-token.ts';
import { describeStart } from './summary.ts';
import { assertPortsFree } from './taken-ports.ts';

const shutdownDeadlineMs = 40_000;
const quietMs = 150;

const shutdown = new ShutdownStack(createLogger('npm start', 'warn'));
/** Aborts when the run ends, with `stopRequested` or an error. The first reason wins. */
const stopping = new AbortController();
const stopRequested = new Error('npm start was asked to stop');

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopping.abort(stopRequested));
}
// The parent process, which opened an IPC channel, has ended.
process.once('disconnect', () => stopping.abort(stopRequested));

process.exitCode = await run();
process.exit();

async function run(): Promise<number> {
  const { signal } = stopping;
  try {
    await start(readStartSettings(process.env), process.env);
    if (!signal.aborted) await once(signal, 'abort');
    throw signal.reason;
  } catch (error) {
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (reason === stopRequested) return 0;
    process.stderr.write(`${connectionErrorMessage(reason)}\n`);
    return 1;
  } finally {
    await shutdown.stop(shutdownDeadlineMs);
  }
}

/** Starts the database and the services, and prints the summary. If one of them ends later, the run ends too. */
async function start(settings: StartSettings, given: Environment): Promise<void> {
  const { signal } = stopping;
  const [database] = await Promise.all([openDatabase(settings), keepConsolePageBuilt(tell)]);
  signal.throwIfAborted();
  const secret = needsOwnSecret(given) ? await keepTokenSecret(settings.dataDir) : undefined;
  const env = serviceEnvironment(given, database.url, secret);
  tell('Migrating the database...');
  const migrations = await migrate(env.DATABASE_DIRECT_URL, settings.schema).catch((error: unknown) => {
    throw new ConfigError(`the database can't be migrated: ${connectionErrorMessage(error)}`);
  });
  signal.throwIfAborted();
  if (settings.seedDemo) tell('Adding the demo, unless the database has data...');
  const seeded = settings.seedDemo && (await seedDemo(inSession(env.DATABASE_DIRECT_URL, settings.schema)));
  signal.throwIfAborted();
  tell('Starting the services, and waiting until each is ready...');
  const services = ['slot-service', 'coupon-service', 'staff-console'].map((name) => startService(name, env));
  const { host, slot, coupon } = settings;
  const address = host === 'localhost' ? '127.0.0.1' : host;
  await Promise.all([slot.web, coupon.web, settings.console].map(({ port }) => untilReady(address, port, signal)));
  await untilQuiet(services);
  signal.throwIfAborted();
  const claims = { subject: 'staff-1', staffId: 1, lifetimeSeconds: 8 * 3_600 };
  const token = env.AUTH_JWT_SECRET ? await signToken(env.AUTH_JWT_SECRET, claims, env) : undefined;
  const summary = describeStart({ settings, database: database.name, migrations, seeded, token });
  tell(summary);
}

/** Prints what the run does now, so that a slow step is told from a hang. */
function tell(text: string): void {
  process.stdout.write(`${text}\n`);
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
  tell('Starting PostgreSQL, which makes its files at the first start...');
  const postgres = await startPostgres(dataDir, embeddedPort, stopping.signal);
  tell('PostgreSQL is ready.');
  shutdown.push({ name: 'PostgreSQL', stop: () => postgres.stop(), kill: () => postgres.kill() });
  void postgres.ended.then(stopAfter);
  return { url: postgres.url, name: `embedded PostgreSQL in ${dataDir}` };
}

function startService(name: string, env: Environment): ServiceProcess {
  const service = startServiceProcess(name, env);
  shutdown.push({ name, stop: () => service.stop(), kill: () => service.kill() });
  void service.ended.then(stopAfter);
  return service;
}

function stopAfter(reason: string): void {
  stopping.abort(new ConfigError(`${reason}: stopping everything`));
}

/** Waits until the services have stopped writing for a moment, so that the summary comes after their first lines. */
async function untilQuiet(services: readonly ServiceProcess[]): Promise<void> {
  const deadline = Date.now() + 10 * quietMs;
  const isQuiet = () => services.every((service) => Date.now() - service.lastWroteAt() > quietMs);
  while (!isQuiet() && Date.now() < deadline) await delay(quietMs / 5);
}
