import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate } from '../../shared/db/migrate.ts';
import { signToken } from '../support/tokens.ts';
import { findSamples, loadCallsData, openBookings, removeWritten } from './calls-data.ts';
import { isAsked, type Row, rowsOf, titleOf } from './calls-rows.ts';
import type { Services } from './calls-sides.ts';
import { mainOf, root } from './calls-stage.ts';
import { compareTable, type Figures, type Pair, type Pairs } from './compare-table.ts';
import { openLoad, type PersistentLoad } from './persistent-load.ts';
import { onPostgres, positive, readOptions, temporaryFolder } from './program.ts';
import { environmentOf, type MeasuredServer, startPair, threadTime } from './servers.ts';

// npm run bench:compare -- other/tree [--only text --rounds 200 --starts 4 --ms 50 --scale 0.01 --new field,field]: what the
// calls of another tree cost, as ratios to this one's. Both have to be built. Each has a database of its own with the same data.
// This tree's is a copy of the other's, migrated further: so the other tree's migrations have to be the first ones of this tree's,
// unchanged. Needs two cores and taskset.
//
// This machine's pace changes within a second by more than the trees differ, and two processes of one tree
// differ by up to a tenth for as long as they run. So one process has both trees, the same load goes to
// each in short turns, and each turn is compared with the one beside it. A tree whose `node_modules` are a
// link to this one's shares the packages with it, compiled for both. The trees have to answer alike, but for the fields by `--new`,
// which only this one has.

const warmUpMs = 8_000;
const { options, positionals } = readOptions({
  only: '',
  rounds: '200',
  starts: '4',
  ms: '50',
  scale: '0.01',
  new: '',
});
const [other] = positionals;
if (other === undefined) throw new Error('which other tree?');
const rounds = positive(options, 'rounds');
const starts = positive(options, 'starts');
const roundMs = positive(options, 'ms');
const scale = positive(options, 'scale');
const trees = { here: root, other: path.resolve(other) };
// A module is loaded once from one place: the services of one tree would not start twice.
if (path.relative(trees.here, trees.other) === '') throw new Error('a tree is compared with itself by a copy of it');

interface ComparedSide {
  readonly row: Row;
  readonly server: MeasuredServer;
  readonly load: PersistentLoad;
}

const folder = temporaryFolder();
await onPostgres(async (postgres) => {
  const otherUrl = await postgres.createDatabase('other');
  const { migrate: migrateOther }: { migrate: typeof migrate } = await import(
    path.join(trees.other, 'dist/shared/db/migrate.js')
  );
  await migrateOther(otherUrl);
  await loadCallsData(otherUrl, scale);
  const hereUrl = await postgres.createDatabase('here', 'other');
  await migrate(hereUrl);
  const token = await signToken({ staffId: 1, expiresIn: 24 * 3600 });
  const common = { token, ...(await findSamples(hereUrl)), folder };
  const measured = new Map<string, Pair[]>();
  // What is compiled when, and which tree comes first, differs from process to process.
  for (let start = 0; start < starts; start += 1) {
    for (const { name, pairs } of await measureOnce(common, { here: hereUrl, other: otherUrl }, start)) {
      measured.set(name, [...(measured.get(name) ?? []), ...pairs]);
    }
  }
  console.log(`\n${compareTable(measured, { ...trees, starts, rounds, roundMs })}`);
});

/** An answer without the fields that only this tree has. */
function asCompared(answer: unknown): string | undefined {
  const newFields = options.new.split(',');
  return JSON.stringify(answer, (key, value) => {
    if (newFields.includes(key)) return undefined;
    return typeof value === 'bigint' ? String(value) : value;
  });
}

/** Starts the services of both trees, and measures all rows. */
async function measureOnce(
  common: Omit<Services, 'slot' | 'coupon' | 'openBookings' | 'removeWritten'>,
  databaseUrls: Readonly<Record<keyof typeof trees, string>>,
  start: number,
): Promise<Pairs[]> {
  const isOtherFirst = start % 2 === 1;
  const servers: MeasuredServer[] = [];
  const startTrees = async (name: 'slot' | 'coupon') => {
    const env = { PATH: process.env.PATH, ...environmentOf(name, databaseUrls.here) };
    const main = (tree: keyof typeof trees) => ({ script: mainOf(trees[tree], name), databaseUrl: databaseUrls[tree] });
    const [here, other] = [main('here'), main('other')];
    const pair = await startPair(`${name}-${start}`, isOtherFirst ? [other, here] : [here, other], env, folder);
    servers.push(...pair);
    return pair;
  };
  try {
    const [slots, coupons] = [await startTrees('slot'), await startTrees('coupon')];
    const rowsAt = (place: 0 | 1, tree: keyof typeof trees) =>
      rowsOf({
        ...common,
        ...{ slot: slots[place], coupon: coupons[place] },
        openBookings: () => openBookings(databaseUrls[tree]),
        removeWritten: () => removeWritten(databaseUrls[tree]),
      });
    const hereRows = rowsAt(isOtherFirst ? 1 : 0, 'here');
    const otherRows = rowsAt(isOtherFirst ? 0 : 1, 'other');
    const measured: Pairs[] = [];
    for (const [at, row] of hereRows.entries()) {
      const otherRow = otherRows[at];
      if (otherRow !== undefined && isAsked(titleOf(row), options.only)) measured.push(await measureRow(row, otherRow));
    }
    return measured;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Loads both trees with as many calls, in turns that begin with either. */
async function measureRow(row: Row, otherRow: Row): Promise<Pairs> {
  const { answer: hereAnswer, ...here } = await row.openService();
  const { answer: otherAnswer, ...other } = await otherRow.openService();
  if (asCompared(hereAnswer) !== asCompared(otherAnswer))
    throw new Error(`the trees answer ${titleOf(row)} differently`);
  const sides = [
    { row, server: here.server, load: await openLoad(here.requests) },
    { row: otherRow, server: other.server, load: await openLoad(other.requests) },
  ] as const;
  try {
    const count = await warmUp(sides);
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
      const figures: Figures[] = [];
      for (const at of order) figures[at] = await measureRound(sides[at], count);
      const [ofHere, ofOther] = figures;
      if (ofHere && ofOther) pairs.push({ here: ofHere, other: ofOther });
      if (round % 20 === 19) for (const side of sides) await cleanUp(side);
    }
    console.error(`${titleOf(row)}: measured`);
    return { name: titleOf(row), pairs };
  } finally {
    for (const { load } of sides) load.close();
  }
}

/** Loads both in turns, so that the compiler gets to know both. Gives how many calls a round has. */
async function warmUp(sides: readonly [ComparedSide, ComparedSide]): Promise<number> {
  let count = 8;
  for (let elapsed = 0; elapsed < warmUpMs; ) {
    const begin = performance.now();
    for (const { load } of sides) await load.run(count);
    const took = performance.now() - begin;
    elapsed += took;
    // By the best pace: the next rounds may be less disturbed than this one.
    const counted = Math.round((count * sides.length * roundMs * sides[0].row.length) / took);
    count = Math.max(count, Math.min(count * 2, counted));
    for (const side of sides) await cleanUp(side);
  }
  return count;
}

async function cleanUp({ row, server }: ComparedSide): Promise<void> {
  await row.afterRound?.();
  await server.forgetLog();
}

async function measureRound({ server, load }: ComparedSide, count: number): Promise<Figures> {
  // What the last round left to be done, such as its log, is not this one's.
  await pause(2);
  const before = await threadTime(server);
  const begin = performance.now();
  await load.run(count);
  const seconds = (performance.now() - begin) / 1000;
  await pause(2);
  return { perSecond: count / seconds, processor: ((await threadTime(server)) - before) / count };
}
