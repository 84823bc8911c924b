import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Row, rowsOf } from './calls-rows.ts';
import type { Side } from './calls-sides.ts';
import { openStage } from './calls-stage.ts';
import { formatResult, type Measured, type Round } from './calls-table.ts';
import { measureScaling } from './scaling.ts';
import { busyTime, serverTime } from './servers.ts';
import { measureStalls } from './stalls.ts';

// npm run bench [-- --only text --rounds 5 --seconds 1.5 --scale 0.01 --out bench.md]: what calls cost,
// as ratios to servers that do nothing but answer them, measured in turns in one run. Needs two cores,
// taskset and h2load (Debian: nghttp2-client).

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    scale: { type: 'string', default: '0.01' },
    out: { type: 'string', default: 'bench.md' },
  },
});
const rounds = positive('rounds');
const seconds = positive('seconds');
const scale = positive('scale');

const folder = mkdtempSync(path.join(tmpdir(), 'delivery-admin-calls-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const stage = await openStage(folder, scale);
try {
  const measured: Measured[] = [];
  for (const row of rowsOf(stage)) {
    if (row.name.includes(options.only)) measured.push(await measure(row));
  }
  const stalls = await measureStalls(stage, seconds * 3, options.only);
  const scaling = 'processes'.includes(options.only) ? await measureScaling(stage, rounds, seconds) : [];
  const result = formatResult(measured, stalls, scaling, { rounds, seconds, coupons: Math.round(scale * 1_000_000) });
  await writeFile(options.out, result);
  console.log(`\n${result}\nwritten to ${options.out}`);
} finally {
  await stage.close();
}

function positive(name: 'rounds' | 'seconds' | 'scale'): number {
  const value = Number(options[name]);
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0`);
  return value;
}

async function measure(row: Row): Promise<Measured> {
  const { service, bare } = await row.prepare(stage);
  await row.afterRound?.();
  const results: { service: Round[]; bare: Round[] } = { service: [], bare: [] };
  // Warm, and its pace is known.
  const counts = { service: await warmUp(service, row), bare: await warmUp(bare, row) };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, side] of [
      ['service', service],
      ['bare', bare],
    ] as const) {
      const result = await measureRound(side, counts[name]);
      await row.afterRound?.();
      results[name].push(result);
    }
  }
  const rates = (side: readonly Round[]) =>
    side.map(({ perSecond }) => perSecond.toFixed(perSecond < 100 ? 1 : 0)).join(' ');
  console.error(`${row.name}: ${rates(results.service)}, bare ${rates(results.bare)} calls/s`);
  return { row, ...results };
}

/** Makes calls as long as a round is to take. Answers how many calls such a round has. */
async function warmUp({ load, inFlight }: Side, { length, afterRound }: Row): Promise<number> {
  const roundSeconds = seconds * length;
  let elapsed = 0;
  let count = inFlight;
  while (true) {
    const { perSecond } = await load(count);
    await afterRound?.();
    elapsed += count / perSecond;
    count = Math.max(inFlight, Math.round(Math.min(perSecond * roundSeconds, count * 4)));
    if (elapsed >= roundSeconds) return count;
  }
}

async function measureRound({ server, load }: Side, count: number): Promise<Round> {
  const start = performance.now();
  const [processorBefore, busyBefore] = [await serverTime(server), await busyTime('cpu0')];
  const sample = await load(count);
  const processor = (await serverTime(server)) - processorBefore;
  const others = (await busyTime('cpu0')) - busyBefore - processor;
  const elapsed = (performance.now() - start) * 1000;
  await server.forgetLog();
  return { ...sample, processor: processor / sample.calls, others: Math.max(0, others / elapsed) };
}
