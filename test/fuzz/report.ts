import type { Growth } from './memory-growth.ts';
import type { RunResult } from './run.ts';

export interface Report {
  readonly result: RunResult;
  readonly growth: readonly Growth[];
  readonly seconds: number;
  readonly warnings: ReadonlyMap<string, number>;
  readonly rows: Readonly<Record<string, number>>;
}

const shownFindings = 40;
const columns = { protocol: 0, procedure: 1, kind: 2, outcome: 3 } as const;

/** The report of a run, as text. */
export function describeRun({ result, growth, seconds, warnings, rows }: Report): string {
  const sum = (column: keyof typeof columns) => {
    const totals = new Map<string, number>();
    for (const [key, count] of result.counts) {
      const name = key.split('|')[columns[column]] ?? '';
      totals.set(name, (totals.get(name) ?? 0) + count);
    }
    return table(`by ${column}`, totals);
  };
  const faults = new Map<string, number>();
  for (const { fault } of result.findings) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  return [
    `\n${result.sent} requests in ${seconds.toFixed(0)} s\n`,
    ...(['protocol', 'procedure', 'kind', 'outcome'] as const).map(sum),
    outcomesByProcedure(result),
    table('warnings logged', warnings),
    table('rows at the end', new Map(Object.entries(rows))),
    memoryOf(result, growth),
    table(`findings: ${result.findings.length}`, new Map([...faults].slice(0, shownFindings))),
  ].join('\n');
}

function table(title: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, count]) => `  ${String(count).padStart(7)}  ${name}`);
  return [title, ...lines, ''].join('\n');
}

function outcomesByProcedure({ counts }: RunResult): string {
  const byProcedure = new Map<string, Map<string, number>>();
  for (const [key, count] of counts) {
    const [, procedure = '', , outcome = ''] = key.split('|');
    const outcomes = byProcedure.get(procedure) ?? new Map<string, number>();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count);
    byProcedure.set(procedure, outcomes);
  }
  const lines = [...byProcedure].sort().map(([procedure, outcomes]) => {
    const sorted = [...outcomes].sort((a, b) => b[1] - a[1]);
    return `  ${procedure}: ${sorted.map(([outcome, count]) => `${outcome} ${count}`).join(', ')}`;
  });
  return ['outcomes by procedure', ...lines, ''].join('\n');
}

function memoryOf({ memory }: RunResult, growth: readonly Growth[]): string {
  const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);
  const lines = memory.flatMap(({ sent, ...services }) =>
    Object.entries(services).map(
      ([name, { rss, heapUsed, external, resources, kinds }]) =>
        `  ${String(sent).padStart(7)}  ${name.padEnd(6)}  rss ${mib(rss)}  heap ${mib(heapUsed)}  external ${mib(external)}  resources ${resources} ${JSON.stringify(kinds)}`,
    ),
  );
  const changes = growth.map(
    ({ service, measure, early, late, isFault }) =>
      `  ${service} ${measure}: ${early.toFixed(1)} to ${late.toFixed(1)}${isFault ? '  GROWS' : ''}`,
  );
  const heads = ['memory in MiB, after garbage collection', 'medians of the first and the last third'];
  return [heads[0], ...lines, heads[1], ...changes, ''].join('\n');
}
