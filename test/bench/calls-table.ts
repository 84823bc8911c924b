import { cpus } from 'node:os';
import type { Row } from './calls-rows.ts';
import type { Sample } from './load.ts';
import { median } from './median.ts';
import type { Stall } from './stalls.ts';

/** One round of one side. */
export interface Round extends Sample {
  /** Processor time of the server, in microseconds a call. */
  readonly processor: number;
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
export function formatResult(measured: readonly Measured[], stalls: readonly Stall[], conditions: Conditions): string {
  const lines = [...describe(conditions), ''];
  if (measured.length > 0) {
    const columns = ['call', 'against', ...head, ...head.map((name) => `bare ${name}`), 'ratio', 'target', ''];
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
  return `${lines.join('\n').trim()}\n`;
}

function formatRow({ row, service, bare }: Measured): string {
  const ratio = middle(service, 'perSecond') / middle(bare, 'perSecond');
  return line([
    row.name,
    row.against,
    ...cells(service),
    ...cells(bare),
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

function describe({ rounds, seconds, coupons }: Conditions): string[] {
  const [cpu] = cpus();
  return [
    `Node ${process.version}, ${cpus().length} x ${cpu?.model}. Medians of ${rounds} rounds of ${seconds} s on each side, in turns,`,
    'after one that warms up. The server under measurement, service or baseline, has core 0 for itself; PostgreSQL',
    'and the load share core 1. Services as built, with their defaults, their log written to a file. PostgreSQL with',
    `fsync=off and synchronous_commit at its default; 1,000 slots of 40 products, ${coupons} coupons and users.`,
    'µs CPU is the processor time of the server a call: where PostgreSQL is the limit, it tells more than calls/s.',
  ];
}
