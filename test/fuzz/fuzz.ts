import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '../../shared/db/migrate.ts';
import { startBenchPostgres } from '../bench/data-postgres.ts';
import { buildProgram } from '../support/build-program.ts';
import type { FuzzRequest } from './exchange.ts';
import { FuzzData } from './fixture.ts';
import { FuzzedServices } from './fuzzed-services.ts';
import { growthOf } from './memory-growth.ts';
import { describeRun } from './report.ts';
import { requestAt } from './requests.ts';
import { runFuzz } from './run.ts';

// Sends random and mutated requests to both services and prints the faults. Exits with 1 when there are any.
//   npm run fuzz -- --requests 100000 --seed 1
//   npm run fuzz -- --replay <file of findings>   sends the requests of the findings alone

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    replay: { type: 'string' },
  },
});
const seed = Number(values.seed);
const replayed: FuzzRequest[] | undefined =
  values.replay === undefined
    ? undefined
    : JSON.parse(await readFile(values.replay, 'utf8')).flatMap(
        ({ request }: { request?: FuzzRequest }) => request ?? [],
      );
const requests = replayed?.length ?? Number(values.requests);
process.stdout.write(replayed ? `Replaying ${requests} requests\n` : `${requests} requests, seed ${seed}\n`);

const folder = await mkdtemp(path.join(tmpdir(), 'delivery-admin-fuzz-'));
const [program, postgres] = [await buildProgram(), await startBenchPostgres()];
try {
  const url = await postgres.createDatabase('fuzz');
  await migrate(url);
  const data = await FuzzData.load(url);
  const services = await FuzzedServices.start(url, program, folder);
  const startMs = Date.now();
  const result = await runFuzz(services, data, {
    requests,
    // Often enough to see how memory changes, and a multiple of the requests between two restores.
    checkedAfter: 1_000 * Math.min(5, Math.max(1, Math.round(requests / 20_000))),
    requestAt: (index) => replayed?.[index] ?? requestAt(seed, index),
    onFinding: ({ fault, index, request }) =>
      process.stdout.write(`${fault}${request ? ` (${index}: ${Object.values(request.label).join(', ')})` : ''}\n`),
    onProgress: (sent, findings) => process.stdout.write(`${sent} sent, ${findings} findings\n`),
  });
  const seconds = (Date.now() - startMs) / 1000;
  const growth = growthOf(result.memory);
  process.stdout.write(describeRun({ result, growth, seconds, warnings: services.warnings, rows: await data.count() }));
  const findingsFile = path.join(folder, 'findings.json');
  await writeFile(findingsFile, JSON.stringify(result.findings, null, 1));
  const isGood = result.findings.length === 0 && growth.every(({ isFault }) => !isFault);
  process.stdout.write(isGood ? '\nNothing was wrong.\n' : `\nFindings in ${findingsFile}, logs beside.\n`);
  process.exitCode = isGood ? 0 : 1;
  await services.stop();
  await data.close();
} finally {
  await postgres.stop();
  await rm(program, { recursive: true });
}
