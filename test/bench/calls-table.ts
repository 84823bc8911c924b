import { cpus } from 'node:os';
import type { Row } from './calls-rows.ts';
import type { Sample } from './load.ts';
import { median } from './median.ts';
import type { Stall } from './stalls.ts';

/** One round of one side. */
export interface Round extends Sample {
  /** Processor time of the server, in microseconds a call. */
  readonly processor: number;
  /** Processor time of PostgreSQL, in microseconds a call. */
  readonly database: number;
  /** The share of core 0 that was not the server's. */
  readonly others: number;
}

export interface Measured {
  readonly row: Row;
  readonly service: readonly Round[];
  readonly bare: readonly Round[] | undefined;
  readonly echo: readonly Round[] | undefined;
}

export interface Conditions {
  readonly rounds: number;
  readonly seconds: number;
  readonly coupons: number;
}

const head = [
  ...[
    'call',
    'callers',
    'calls/s',
    'bare',
    'echo',
    'to bare',
    'target',
    'to echo',
    'target',
    'p50 ms',
    'bare',
    'p99 ms',
  ],
  ...['µs CPU', 'bare', 'echo', 'µs PostgreSQL', 'bare'],
];

/** The result as Markdown. */
export function formatResult(measured: readonly Measured[], stalls: readonly Stall[], conditions: Conditions): string {
  const all = measured.flatMap(({ service, bare = [], echo = [] }) => [...service, ...bare, ...echo]);
  const others = all.reduce((sum, round) => sum + round.others, 0) / Math.max(1, all.length);
  const lines = [...describe(conditions, others), ''];
  if (measured.length > 0) {
    lines.push(line(head), line(head.map((_, at) => (at < 1 ? '---' : '---:'))));
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

function formatRow({ row, service, bare, echo }: Measured): string {
  const rate = (side: readonly Round[] | undefined) => figure(side, 'perSecond', (value) => (value < 100 ? 1 : 0));
  const ratioTo = (side: readonly Round[] | undefined, target: number | undefined) => {
    if (side === undefined) return ['', ''];
    const ratio = middle(service, 'perSecond') / middle(side, 'perSecond');
    return [ratio.toFixed(2), target === undefined ? '' : `${target.toFixed(2)} ${ratio >= target ? 'met' : 'missed'}`];
  };
  return line([
    row.name,
    String(row.callers),
    ...[service, bare, echo].map(rate),
    ...ratioTo(bare, row.targets.bare),
    ...ratioTo(echo, row.targets.echo),
    ...[service, bare].map((side) => figure(side, 'p50', () => 2)),
    figure(service, 'p99', () => 2),
    ...[service, bare, echo].map((side) => figure(side, 'processor', () => 0)),
    ...[service, bare].map((side) => figure(side, 'database', () => 0)),
  ]);
}

/** The median of a figure of a side; nothing where it was not measured. */
function figure(
  side: readonly Round[] | undefined,
  field: 'perSecond' | 'p50' | 'p99' | 'processor' | 'database',
  digits: (value: number) => number,
): string {
  const value = side === undefined ? Number.NaN : middle(side, field);
  return Number.isNaN(value) ? '' : value.toFixed(digits(value));
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
    'Bare is a server without credentials, validation and log that runs one statement a call: grpc-js, or node:http for',
    'JSON and for GetAll. Echo is one that gives the same answer without a database. µs CPU is the processor time of the',
    `server a call, µs PostgreSQL that of the database. Other processes took ${(others * 100).toFixed(0)} % of core 0${others > 0.1 ? ', too much for these figures to be relied on' : ''}.`,
  ];
}
