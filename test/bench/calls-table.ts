import type { Row, Sides } from './calls-rows.ts';
import type { Sample } from './load.ts';
import { median } from './median.ts';
import { machine, tableHead, tableRow } from './program.ts';
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

/** A row with the rounds of each of its sides. */
export interface Measured {
  readonly row: Row;
  readonly rounds: Readonly<Partial<Record<keyof Sides, readonly Round[]>>>;
}

export interface Conditions {
  readonly rounds: number;
  readonly seconds: number;
  readonly coupons: number;
}

/** A column of the table: its head, and its text for a row. */
type Column = readonly [string, (measured: Measured) => string];

type Side = keyof Sides;

/** The median of a side's figure; NaN where it was not measured. */
const middle = ({ rounds }: Measured, side: Side, figure: (round: Round) => number) =>
  median(rounds[side]?.map(figure) ?? []);

/** A figure of some sides, the service first. */
function figures(head: string, sides: readonly Side[], figure: (round: Round) => number, digits = 0): Column[] {
  return sides.map((side) => [
    side === 'service' ? head : side,
    (measured) => {
      const value = middle(measured, side, figure);
      return Number.isNaN(value) ? '' : value.toFixed(value < 100 ? Math.max(1, digits) : digits);
    },
  ]);
}

/** The service's calls a second as a ratio to those of another side, and whether it reached its target. */
function ratios(to: 'bare' | 'echo' | 'beside'): Column[] {
  const ratioOf = (measured: Measured) =>
    middle(measured, 'service', ({ perSecond }) => perSecond) / middle(measured, to, ({ perSecond }) => perSecond);
  const ratio: Column = [
    `to ${to}`,
    (measured) => (measured.rounds[to] === undefined ? '' : ratioOf(measured).toFixed(2)),
  ];
  if (to === 'beside') return [ratio];
  const verdict = (measured: Measured) => {
    const target = measured.row.targets[to];
    if (target === undefined || measured.rounds[to] === undefined) return '';
    return `${target.toFixed(2)} ${ratioOf(measured) >= target ? 'met' : 'missed'}`;
  };
  return [ratio, ['target', verdict]];
}

const columns: readonly Column[] = [
  ['call', ({ row }) => row.name],
  ['callers', ({ row }) => String(row.callers)],
  ...figures('calls/s', ['service', 'bare', 'echo', 'beside'], ({ perSecond }) => perSecond),
  ...ratios('bare'),
  ...ratios('echo'),
  ...ratios('beside'),
  ...figures('p50 ms', ['service', 'bare'], ({ p50 }) => p50, 2),
  ...figures('p99 ms', ['service'], ({ p99 }) => p99, 2),
  ...figures('µs CPU', ['service', 'bare', 'echo', 'beside'], ({ processor }) => processor),
  ...figures('µs PostgreSQL', ['service', 'bare', 'beside'], ({ database }) => database),
  ...figures('µs both', ['service', 'bare', 'echo', 'beside'], ({ processor, database }) => processor + database),
];

/** The result as Markdown. */
export function formatResult(measured: readonly Measured[], stalls: readonly Stall[], conditions: Conditions): string {
  const all = measured.flatMap(({ rounds }) => Object.values(rounds).flat());
  const others = all.reduce((sum, round) => sum + round.others, 0) / Math.max(1, all.length);
  const lines = [...describe(conditions, others), ''];
  if (measured.length > 0) {
    lines.push(tableHead(columns.map(([head]) => head)));
    lines.push(...measured.map((row) => tableRow(columns.map(([, cell]) => cell(row)))), '');
  }
  if (stalls.length > 0) {
    const heads = ['small call, 200 a second', 'p50 ms', 'p99 ms', 'p50 ms beside GetAll', 'p99 ms beside GetAll'];
    lines.push(tableHead(heads));
    for (const { name, alone, beside } of stalls) {
      lines.push(tableRow([name, ...[alone.p50, alone.p99, beside.p50, beside.p99].map((value) => value.toFixed(2))]));
    }
  }
  return `${lines.join('\n').trim()}\n`;
}

function describe({ rounds, seconds, coupons }: Conditions, others: number): string[] {
  return [
    `${machine}. Medians of ${rounds} rounds of ${seconds} s on each side, in turns,`,
    `after one that warms up, of ${10 * seconds} s for most lone callers. The server under measurement, service or baseline,`,
    'has core 0 for itself; PostgreSQL and the load share core 1. Services as built, with their defaults, their log written',
    `to a file. PostgreSQL with fsync=off and synchronous_commit at its default; 1,000 slots of 40 products, ${coupons} coupons and users.`,
    'Bare is a server without credentials, validation and log that runs one statement a call: grpc-js, or node:http for',
    'JSON and for GetAll of slots. Echo is one that gives the same answer without a database. µs CPU is the processor time',
    'of the server a call, µs PostgreSQL that of the database. Beside is the server of --beside, over gRPC.',
    `Other processes took ${(others * 100).toFixed(0)} % of core 0${others > 0.1 ? ', too much for these figures to be relied on' : ''}.`,
  ];
}
