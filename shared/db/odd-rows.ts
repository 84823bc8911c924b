import type pg from 'pg';
import type { Logger } from 'pino';
import type { AbortSignalLike } from '../cancellation/signal.ts';
import type { Database } from './database.ts';
import { type BoundStatement, statement } from './statement.ts';

// Constraints keep out values that answers can't show (migration 0015). A constraint stays unvalidated on a table that
// held such rows before it. The log lists these rows, and answers omit the values.

type Run = <Row extends pg.QueryResultRow>(statement: BoundStatement<Row>) => Promise<Row[]>;

interface OddRows {
  readonly table: string;
  readonly constraint: string;
  /** The ids of the first such rows; empty if there are none. */
  readonly ids: readonly number[];
}

const unvalidated = statement<{ table: string; constraint: string; sound: string }>(
  'unvalidatedConstraints',
  `select conrelid::regclass::text as table, quote_ident(conname) as constraint, pg_get_expr(conbin, conrelid) as sound
   from pg_constraint where contype = 'c' and not convalidated and connamespace = 'public'::regnamespace
     and conname like '%\\_sound'`,
);

const maxTold = 20;

/** Finds the rows that violate each unvalidated constraint. */
async function findOddRows(run: Run): Promise<OddRows[]> {
  const found: OddRows[] = [];
  for (const { table, constraint, sound } of await run(unvalidated())) {
    const text = `select id from ${table} where not (${sound}) order by id limit ${maxTold}`;
    const rows = await run(statement<{ id: number }>(`odd rows by ${constraint}`, text)());
    found.push({ table, constraint, ids: rows.map(({ id }) => id) });
  }
  return found;
}

/**
 * Validates each constraint that all rows of its table satisfy. Reports the rows that violate the others, which the
 * next migration tries again.
 */
export async function validateConstraints(client: pg.Client, tell: (line: string) => void): Promise<void> {
  const found = await findOddRows(async ({ text, values }) => (await client.query(text, [...values])).rows);
  for (const { table, constraint, ids } of found) {
    if (ids.length === 0) await client.query(`alter table ${table} validate constraint ${constraint}`);
    else tell(`rows of ${table} break ${constraint}, mend them and migrate again: the first ids are ${ids.join(', ')}`);
  }
}

/** Logs a warning with the ids of rows that answers can't show in full. Constraints keep new ones out. */
export async function warnOfOddRows(database: Database, signal: AbortSignalLike, logger: Logger): Promise<void> {
  const db = database.for({ signal });
  for (const { ids, ...odd } of await findOddRows((statement) => db.query(statement))) {
    if (ids.length > 0) logger.warn({ ...odd, ids }, 'answers leave out what they cannot show of these rows');
  }
}
