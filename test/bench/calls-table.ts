import type { Row, Sides } from './calls-rows.ts';
import type { Sample } from './load.ts';
import { median } from './median.ts';
import { machine, tableHead, tableRow } from './program.ts';

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

const ratioTo = (measured: Measured, to: 'bare' | 'beside') =>
  middle(measured, 'service', ({ perSecond }) => perSecond) / middle(measured, to, ({ perSecond }) => perSecond);

/** The service's calls a second as a ratio to those of another side. */
const ratio = (to: 'bare' | 'beside'): Column => [
  `to ${to}`,
  (measured) => (measured.rounds[to] === undefined ? '' : ratioTo(measured, to).toFixed(2)),
];

function verdict(measured: Measured): string {
  const { target } = measured.row;
  if (target === undefined || measured.rounds.bare === undefined) return '';
  return `${target.toFixed(2)} ${ratioTo(measured, 'bare') >= target ? 'met' : 'missed'}`;
}

const columns: readonly Column[] = [
  ['call', ({ row }) => row.name],
  ['callers', ({ row }) => String(row.callers)],
  ...figures('calls/s', ['service', 'bare', 'beside'], ({ perSecond }) => perSecond),
  ratio('bare'),
  ['target', verdict],
  ratio('beside'),
  ...figures('p50 ms', ['service', 'bare'], ({ p50 }) => p50, 2),
  ...figures('p99 ms', ['service'], ({ p99 }) => p99, 2),
  ...figures('µs CPU', ['service', 'bare', 'beside'], ({ processor }) => processor),
  ...figures('µs PostgreSQL', ['service', 'bare', 'beside'], ({ database }) => database),
  ...figures('µs both', ['service', 'bare', 'beside'], ({ processor, database }) => processor + database),
];

/** The result as Markdown. */
export function formatResult(measured: readonly Measured[], conditions: Conditions): string {
  const all = measured.flatMap(({ rounds }) => Object.values(rounds).flat());
  const others = all.reduce((sum, round) => sum + round.others, 0) / Math.max(1, all.length);
  const lines = [...describe(conditions, others), ''];
  if (measured.length > 0) {
    lines.push(tableHead(columns.map(([head]) => head)));
    lines.push(...measured.map((row) => tableRow(columns.map(([, cell]) => cell(row)))), '');
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
    'JSON and for GetAll of slots. µs CPU is the processor time',
    'of the server a call, µs PostgreSQL that of the database. Beside is the server of --beside, over gRPC.',
    `Other processes took ${(others * 100).toFixed(0)} % of core 0${others > 0.1 ? ', too much for these figures to be relied on' : ''}.`,
  ];
}
