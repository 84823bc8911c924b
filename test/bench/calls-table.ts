import { cpus } from 'node:os';
import type { Row } from './calls-rows.ts';
import type { Sample } from './load.ts';
import { median } from './median.ts';
import type { Scaling } from './scaling.ts';
import type { Stall } from './stalls.ts';

/** One round of one side. */
export interface Round extends Sample {
  /** Processor time of the server, in microseconds a call. */
  readonly processor: number;
  /** The share of core 0 that was not the server's. */
  readonly others: number;
}

export interface Measured {
  readonly row: Row;
  readonly service: readonly Round[];
  readonly bare: readonly Round[];
}

export interface Conditions {
  readonly rounds: number;
  readonly seconds: number;
  readonly coupons: number;
}

const head = ['calls/s', 'p50 ms', 'p99 ms', 'µs CPU'];

/** The result as Markdown. */
export function formatResult(
  measured: readonly Measured[],
  stalls: readonly Stall[],
  scalings: readonly Scaling[],
  conditions: Conditions,
): string {
  const all = measured.flatMap(({ service, bare }) => [...service, ...bare]);
  const others = all.reduce((sum, round) => sum + round.others, 0) / Math.max(1, all.length);
  const lines = [...describe(conditions, others), ''];
  if (measured.length > 0) {
    const columns = [
      'call',
      'against',
      ...head,
      ...head.map((name) => `bare ${name}`),
      'CPU ratio',
      'ratio',
      'target',
      '',
    ];
    lines.push(line(columns), line(columns.map((_, at) => (at < 2 ? '---' : '---:'))));
    lines.push(...measured.map(formatRow), '');
  }
  if (stalls.length > 0) {
    const columns = ['small call, 200 a second', 'p50 ms', 'p99 ms', 'p50 ms beside GetAll', 'p99 ms beside GetAll'];
    lines.push(line(columns), line(columns.map((_, at) => (at < 1 ? '---' : '---:'))));
    for (const { name, alone, beside } of stalls) {
      lines.push(line([name, ...[alone.p50, alone.p99, beside.p50, beside.p99].map((value) => value.toFixed(2))]));
    }
  }
  if (scalings.length > 0) {
    const columns = ['all on two cores', 'one process, calls/s', 'two', 'ratio', 'target', '', "the load's share"];
    lines.push(
      '',
      line(columns),
      line(columns.map((_, at) => (at < 1 ? '---' : '---:'))),
      ...scalings.map(formatScaling),
    );
  }
  return `${lines.join('\n').trim()}\n`;
}

function formatScaling({ name, one, two, loadShare }: Scaling): string {
  const [single, double] = [one, two].map((samples) => median(samples.map(({ perSecond }) => perSecond)));
  const ratio = Number(double) / Number(single);
  return line([
    name,
    Number(single).toFixed(0),
    Number(double).toFixed(0),
    ratio.toFixed(2),
    '≥ 1.60',
    ratio >= 1.6 ? 'met' : 'missed',
    `${(loadShare * 100).toFixed(0)} %`,
  ]);
}

function formatRow({ row, service, bare }: Measured): string {
  const ratio = middle(service, 'perSecond') / middle(bare, 'perSecond');
  const processorRatio = middle(bare, 'processor') / middle(service, 'processor');
  return line([
    row.name,
    row.against,
    ...cells(service),
    ...cells(bare),
    processorRatio.toFixed(2),
    ratio.toFixed(2),
    `≥ ${row.target.toFixed(2)}`,
    ratio >= row.target ? 'met' : 'missed',
  ]);
}

function cells(rounds: readonly Round[]): string[] {
  const perSecond = middle(rounds, 'perSecond');
  return [
    perSecond.toFixed(perSecond < 100 ? 1 : 0),
    middle(rounds, 'p50').toFixed(2),
    middle(rounds, 'p99').toFixed(2),
    middle(rounds, 'processor').toFixed(0),
  ];
}

const middle = (rounds: readonly Round[], field: keyof Round) => median(rounds.map((round) => round[field]));

const line = (columns: readonly string[]) => `| ${columns.join(' | ')} |`;

function describe({ rounds, seconds, coupons }: Conditions, others: number): string[] {
  const [cpu] = cpus();
  return [
    `Node ${process.version}, ${cpus().length} x ${cpu?.model}. Medians of ${rounds} rounds of ${seconds} s on each side, in turns,`,
    'after one that warms up. The server under measurement, service or baseline, has core 0 for itself; PostgreSQL',
    'and the load share core 1. Services as built, with their defaults, their log written to a file. PostgreSQL with',
    `fsync=off and synchronous_commit at its default; 1,000 slots of 40 products, ${coupons} coupons and users.`,
    'µs CPU is the processor time of the server a call; where PostgreSQL is the limit, the CPU ratio tells more than',
    `the ratio. Other processes took ${(others * 100).toFixed(0)} % of core 0${others > 0.1 ? ', too much for these figures to be relied on' : ''}.`,
  ];
}
