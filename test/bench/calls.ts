import { writeFile } from 'node:fs/promises';
import { measureHousekeeping } from './calls-housekeeping.ts';
import { isAsked, type Row, rowsOf, titleOf } from './calls-rows.ts';
import type { Side } from './calls-sides.ts';
import { openStage } from './calls-stage.ts';
import { formatResult, type Measured, type Round } from './calls-table.ts';
import { positive, readOptions, temporaryFolder } from './program.ts';
import { busyTime, serverTime } from './servers.ts';

// npm run bench [-- --only text|text --rounds 5 --seconds 1.5 --scale 0.01 --out bench.md --beside "command"]: what
// calls cost, as ratios to servers that do nothing but answer them, measured in turns in one run. The command starts
// any other server of the same .proto: it is told DATABASE_URL, and PORT for gRPC without TLS. `--housekeeping yes` then measures
// calls during sweeps, retention and vacuum. Needs two cores, taskset and h2load (Debian: nghttp2-client).

const { options } = readOptions({
  only: '',
  rounds: '5',
  seconds: '1.5',
  scale: '0.01',
  out: 'bench.md',
  beside: '',
  housekeeping: '',
});
const rounds = positive(options, 'rounds');
const seconds = positive(options, 'seconds');
const scale = positive(options, 'scale');

const stage = await openStage(temporaryFolder(), scale, options.beside || undefined);
try {
  const measured: Measured[] = [];
  for (const row of rowsOf(stage)) {
    if (isAsked(titleOf(row), options.only)) measured.push(await measure(row));
  }
  const result = [
    formatResult(measured, { rounds, seconds, coupons: Math.round(scale * 1_000_000) }),
    await stage.readSizes(),
    ...(options.housekeeping ? [await measureHousekeeping(stage, 10 * seconds)] : []),
  ].join('\n\n');
  await writeFile(options.out, result);
  console.log(`\n${result}\nwritten to ${options.out}`);
} finally {
  await stage.close();
}

async function measure(row: Row): Promise<Measured> {
  const sides = Object.entries(await row.prepare(stage)).map(([name, side]: [string, Side]) => ({ name, side }));
  await row.afterRound?.();
  // Warm, and their pace is known.
  const counts = new Map<string, number>();
  for (const { name, side } of sides) counts.set(name, await warmUp(side, row));
  const results: Record<string, Round[]> = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, side } of sides) {
      const result = await measureRound(side, counts.get(name) ?? 1);
      await row.afterRound?.();
      results[name] = [...(results[name] ?? []), result];
    }
  }
  const rates = Object.entries(results).map(([name, of]) => {
    return `${name} ${of.map(({ perSecond }) => perSecond.toFixed(perSecond < 100 ? 1 : 0)).join(' ')}`;
  });
  console.error(`${titleOf(row)}: ${rates.join(', ')} calls/s`);
  return { row, rounds: results };
}

/**
 * Makes calls as long as a round is to take, a lone caller ten times as long: V8 compiles code by how often it is called.
 * Answers how many calls a round has.
 */
async function warmUp({ load, inFlight }: Side, { length, afterRound }: Row): Promise<number> {
  const roundSeconds = seconds * length;
  const warmSeconds = inFlight === 1 ? roundSeconds * 10 : roundSeconds;
  let elapsed = 0;
  let count = inFlight;
  while (true) {
    const { perSecond } = await load(count);
    await afterRound?.();
    elapsed += count / perSecond;
    count = Math.max(inFlight, Math.round(Math.min(perSecond * roundSeconds, count * 4)));
    if (elapsed >= warmSeconds) return count;
  }
}

async function measureRound({ server, load }: Side, count: number): Promise<Round> {
  const start = performance.now();
  const [processorBefore, databaseBefore] = [await serverTime(server), await stage.databaseTime()];
  const busyBefore = await busyTime('cpu0');
  const sample = await load(count);
  const processor = (await serverTime(server)) - processorBefore;
  const database = (await stage.databaseTime()) - databaseBefore;
  const others = (await busyTime('cpu0')) - busyBefore - processor;
  const elapsed = (performance.now() - start) * 1000;
  await server.forgetLog();
  return {
    ...sample,
    processor: processor / sample.calls,
    database: database / sample.calls,
    others: Math.max(0, others / elapsed),
  };
}
