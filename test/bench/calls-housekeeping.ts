import { randomUUID } from 'node:crypto';
import { isAsked, type Row, rowsOf, titleOf } from './calls-rows.ts';
import type { Services } from './calls-sides.ts';
import { mainOf, root } from './calls-stage.ts';
import { runSql, withClient } from './client.ts';
import type { Sample } from './load.ts';
import { median } from './median.ts';
import { tableHead, tableRow } from './program.ts';
import { environmentOf, startServer } from './servers.ts';

// What coupon-service and PostgreSQL clean up while calls run: holds that have run out, audit entries past their retention, and
// the row versions that both leave to autovacuum.

const calls = ['Validate, gRPC, 16 callers', 'Redeem, gRPC, 16 callers'];
const most = 200_000;

interface Housekeeping {
  readonly name: string;
  /** Leaves it something to do, before the service starts. Resolves with what the service is told. */
  prepare?(databaseUrl: string): Promise<NodeJS.ProcessEnv>;
  /** What PostgreSQL does. */
  readonly work?: readonly string[];
  /** Returns a row while there is something left to do. */
  readonly left?: string;
}

const jobs: readonly Housekeeping[] = [
  { name: 'nothing' },
  {
    name: `a sweep of ${most} holds that have run out`,
    async prepare(databaseUrl) {
      await runSql(
        databaseUrl,
        `update redemptions set state = 'HELD', held_until = now() - interval '1 second'
         where id in (select id from redemptions where state = 'USED' order by id limit ${most})`,
        'checkpoint',
      );
      return {};
    },
    left: `select from redemptions where state = 'HELD' and held_until < now() limit 1`,
  },
  {
    name: `retention of some ${most} audit entries`,
    async prepare(databaseUrl) {
      const { rows } = await withClient(databaseUrl, (client) =>
        client.query<{ days: number }>(
          `select extract(day from now() - at)::integer as days from audit_entries order by id offset ${most} limit 1`,
        ),
      );
      return { AUDIT_RETENTION_DAYS: String(rows[0]?.days ?? 36_500) };
    },
    left: `select from audit_retention, unnest(array['slot', 'coupon', 'reserved_coupon', 'user']) as type
      where exists (select from audit_entries where resource_type = type and at < now() - days * interval '1 day') limit 1`,
  },
  {
    name: 'a vacuum of redemptions and audit entries',
    // Autovacuum waits as long between its reads.
    work: ['set vacuum_cost_delay = 2', 'vacuum (analyze) redemptions', 'vacuum (analyze) audit_entries'],
  },
];

/** Measures calls of coupon-service, alone and while each of the jobs is done. Returns the result as Markdown. */
export async function measureHousekeeping(
  stage: Services & { readonly databaseUrl: string },
  seconds: number,
): Promise<string> {
  const lines = [tableHead(['meanwhile', 'call', 'calls/s', 'p50 ms', 'p99 ms', 'took s'], 2)];
  for (const title of calls) {
    for (const job of jobs) lines.push(await measureJob(stage, job, title, seconds));
  }
  return lines.join('\n');
}

async function measureJob(
  stage: Services & { readonly databaseUrl: string },
  job: Housekeeping,
  title: string,
  seconds: number,
): Promise<string> {
  const { databaseUrl, folder } = stage;
  const told = await job.prepare?.(databaseUrl);
  const env = { PATH: process.env.PATH, ...environmentOf('coupon', databaseUrl), ...told };
  const coupon = await startServer(`housekeeping-${randomUUID()}`, [mainOf(root, 'coupon')], env, folder);
  try {
    const side = await rowOf({ ...stage, coupon }, title).openService();
    const began = performance.now();
    let isWorking = job.work !== undefined;
    const working = job.work === undefined ? undefined : runSql(databaseUrl, ...job.work);
    void working?.finally(() => {
      isWorking = false;
    });
    const samples: Sample[] = [];
    // Rounds of a second, and at least as long as asked.
    let count = side.inFlight;
    const isOver = async () =>
      performance.now() - began > seconds * 1_000 && !isWorking && !(await isLeft(databaseUrl, job));
    do {
      const sample = await side.load(count);
      if (count > side.inFlight) samples.push(sample);
      count = Math.max(side.inFlight + 1, Math.round(sample.perSecond));
    } while (!(await isOver()));
    await working;
    const took = (performance.now() - began) / 1_000;
    const [rate, p50, p99] = [
      median(samples.map(({ perSecond }) => perSecond)),
      median(samples.map((sample) => sample.p50)),
      median(samples.map((sample) => sample.p99)),
    ];
    console.error(`${title} while ${job.name}: ${rate.toFixed(0)} calls/s in ${took.toFixed(0)} s`);
    return tableRow([job.name, title, rate.toFixed(0), p50.toFixed(2), p99.toFixed(2), took.toFixed(0)]);
  } finally {
    await coupon.stop();
    await stage.removeWritten();
  }
}

function rowOf(services: Services, title: string): Row {
  const row = rowsOf(services).find((each) => isAsked(titleOf(each), title));
  if (row === undefined) throw new Error(`there is no row ${title}`);
  return row;
}

async function isLeft(databaseUrl: string, { left }: Housekeeping): Promise<boolean> {
  if (left === undefined) return false;
  const { rowCount } = await withClient(databaseUrl, (client) => client.query(left));
  return rowCount !== 0;
}
