import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchPostgres, startBenchPostgres } from './data-postgres.ts';

// What the programs of the benchmarks have in common.

/** A folder for the logs and files of a program, removed when it ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'delivery-admin-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Does a program's work on a PostgreSQL of its own. */
export async function onPostgres(work: (postgres: BenchPostgres) => Promise<void>): Promise<void> {
  const postgres = await startBenchPostgres();
  try {
    await work(postgres);
  } finally {
    await postgres.stop();
  }
}

/** The options of the command line by their defaults, and what it has besides. */
export function readOptions<Name extends string>(defaults: Readonly<Record<Name, string>>) {
  const names = Object.keys(defaults).map((name) => [name, { type: 'string' as const }] as const);
  const { values, positionals } = parseArgs({ allowPositionals: true, options: Object.fromEntries(names) });
  const options: Record<Name, string> = { ...defaults, ...values };
  return { options, positionals };
}

/** A number above 0 of the command line. */
export function positive<Name extends string>(options: Readonly<Record<Name, string>>, name: Name): number {
  const value = Number(options[name]);
  if (!(value > 0)) throw new Error(`--${name} takes a number above 0`);
  return value;
}

export const machine = `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}`;

/** A line of a table in Markdown. */
export const tableRow = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;

/** The head of a table. Its first columns are texts, and the others numbers. */
export const tableHead = (columns: readonly string[], texts = 1) =>
  [tableRow(columns), tableRow(columns.map((_, at) => (at < texts ? '---' : '---:')))].join('\n');
