import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { migrate } from '../../shared/db/migrate.ts';
import { signToken } from '../support/tokens.ts';
import type { BareConfig } from './bare-config.ts';
import { findSamples, loadCallsData, openBookings, readSizes, removeWritten } from './calls-data.ts';
import { recordWrites } from './calls-recording.ts';
import type { Stage } from './calls-sides.ts';
import { loadHistory } from './data-history.ts';
import { startBenchPostgres } from './data-postgres.ts';
import { environmentOf, type MeasuredServer, startCommand, startServer } from './servers.ts';

/** The tree that this file is in. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The script of a built service, the one file that is called by its place in every tree. */
export const mainOf = (tree: string, service: 'slot' | 'coupon') =>
  join(tree, `dist/services/${service}-service/main.js`);

/** A stage, and its database. */
export interface OpenStage extends Stage {
  readonly databaseUrl: string;
  /** How large the tables are, in Markdown. */
  readSizes(): Promise<string>;
  close(): Promise<void>;
}

/** Brings up PostgreSQL with the data, the built services, the bare servers, and the one that a command starts. */
export async function openStage(folder: string, scale: number, besideCommand?: string): Promise<OpenStage> {
  const postgres = await startBenchPostgres();
  const servers: MeasuredServer[] = [];
  const close = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await postgres.stop();
  };
  try {
    const load = async (name: string, size: number) => {
      const url = await postgres.createDatabase(name);
      await migrate(url);
      await loadCallsData(url, size);
      return url;
    };
    const [databaseUrl, recordedUrl] = [await load('calls', scale), await load('recorded', 0.0001)];
    await loadHistory(databaseUrl, scale);
    const start = async (name: string, command: string[], env: NodeJS.ProcessEnv = {}) => {
      const server = await startServer(name, command, { PATH: process.env.PATH, ...env }, folder);
      servers.push(server);
      return server;
    };
    const service = (name: 'slot' | 'coupon') =>
      start(`${name}-service`, [mainOf(root, name)], environmentOf(name, databaseUrl));
    const [slot, coupon] = [await service('slot'), await service('coupon')];
    const token = await signToken({ staffId: 1, expiresIn: 24 * 3600 });

    const config: BareConfig = { databaseUrl, recordings: await recordWrites(recordedUrl) };
    const configFile = join(folder, 'bare.json');
    await writeFile(configFile, JSON.stringify(config));
    const scripts = await compileBare();
    const beside = besideCommand === undefined ? undefined : await startCommand(besideCommand, databaseUrl);
    if (beside !== undefined) servers.push(beside);
    return {
      ...{ slot, coupon, beside, token, folder, close, ...(await findSamples(databaseUrl)) },
      bareGrpc: await start('bare-grpc', [join(scripts, 'bare-grpc.js'), configFile]),
      bareHttp: await start('bare-http', [join(scripts, 'bare-http.js'), configFile]),
      openBookings: () => openBookings(databaseUrl),
      removeWritten: () => removeWritten(databaseUrl),
      databaseUrl,
      readSizes: () => readSizes(databaseUrl),
      databaseTime: postgres.processorTime,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The bare servers as plain JavaScript like the built services; below the root, where packages are found. */
async function compileBare(): Promise<string> {
  const dist = join(root, 'dist');
  await mkdir(dist, { recursive: true });
  const outdir = mkdtempSync(join(dist, 'bench-'));
  process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
  await build({
    entryPoints: ['bare-grpc.ts', 'bare-http.ts'].map((file) => join(import.meta.dirname, file)),
    outdir,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outdir;
}
