import { machine, tableHead, tableRow } from './program.ts';

/** One round on each tree, one right after the other. */
export interface Pair {
  readonly here: Figures;
  readonly other: Figures;
}

/** Of one round of one tree. */
export interface Figures {
  readonly perSecond: number;
  /** Microseconds of a call. */
  readonly processor: number;
}

/** All rounds of a row. */
export interface Pairs {
  readonly name: string;
  readonly pairs: readonly Pair[];
}

export interface ComparedTrees {
  readonly here: string;
  readonly other: string;
  readonly starts: number;
  readonly rounds: number;
  readonly roundMs: number;
}

/** The ratios as Markdown. A median is of ratios of pairs: what slows both rounds of a pair is not in it. */
export function compareTable(
  measured: ReadonlyMap<string, readonly Pair[]>,
  { here, other, starts, rounds, roundMs }: ComparedTrees,
): string {
  const columns = ['call', 'pairs', ...head('calls/s'), ...head('µs CPU')];
  return [
    `${machine}. ${other} against ${here} (here): medians of`,
    `${rounds} pairs of rounds of ${roundMs} ms in each of ${starts} starts, in turns, where they are in 95 of 100 cases,`,
    'and their quartiles. Above 1, other has more calls a second, and needs more processor time a call.',
    '',
    tableHead(columns),
    ...[...measured].map(([name, pairs]) =>
      tableRow([name, String(pairs.length), ...cells(pairs, 'perSecond'), ...cells(pairs, 'processor')]),
    ),
  ].join('\n');
}

const head = (figure: string) => [`${figure} here`, 'other/here', '95 %', 'quartiles'];

function cells(pairs: readonly Pair[], field: keyof Figures): string[] {
  const here = pairs.map((pair) => pair.here[field]);
  const ratios = pairs.map((pair) => pair.other[field] / pair.here[field]);
  const text = (share: number) => quantile(ratios, share).toFixed(3);
  const middle = quantile(here, 0.5);
  // The ranks between which the median of many such runs would be in 95 of 100, whatever the distribution.
  const doubt = 0.98 / Math.sqrt(ratios.length);
  return [
    middle.toFixed(middle < 100 ? 1 : 0),
    text(0.5),
    `${text(Math.max(0, 0.5 - doubt))} to ${text(Math.min(1, 0.5 + doubt))}`,
    `${text(0.25)} to ${text(0.75)}`,
  ];
}

/** Between the two nearest, weighted by their distance. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (sorted.length - 1) * share;
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
}
