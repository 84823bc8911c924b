import { type BoundStatement, type Queryable, type Statement, statement } from '../db/statement.ts';

// Substring searches. A scan in the listing's order is fastest for a common term: it stops when the page is full. The
// index is fastest for a rare term. PostgreSQL knows how common a term is, and so plans each search.

export interface SearchedTable {
  readonly table: string;
  /** The searched columns. */
  readonly columns: readonly string[];
  /** The expression of the table's `search_grams` index (migration 0002). */
  readonly indexed: string;
  /** The listing's order. Its index contains the searched columns, so a scan reads only the index. */
  readonly order: string;
  /** The listing's own condition on rows. */
  readonly where: string;
}

/** The parameters of a search. */
export interface Search {
  readonly term: string;
  /** The LIKE pattern of texts that contain the term. */
  readonly pattern: string;
}

/** Returns the search for a term; undefined if the term is blank. The term is not trimmed (design 7). */
export function readSearch(term: string | undefined): Search | undefined {
  return term?.trim() ? { term, pattern: `%${term.replace(/[\\%_]/g, '\\$&')}%` } : undefined;
}

/**
 * Declares a statement that finds the ids of the first rows that contain a term, for a further one of the transaction,
 * which shows the `foundRows`. Only the search is planned for its term: to plan the other takes longer.
 */
export function findStatement<Params extends object>(
  name: string,
  { table, columns, indexed, order, where }: SearchedTable,
): Statement<unknown, Params & Search & { rows: number }> {
  return statement(
    name,
    `select set_config('search.found_ids', array(
        select id from ${table}
        where search_grams(${indexed}, 1) @> search_grams($term::text, 3) and (${matchesOf(columns)}) and ${where}
        order by ${order} limit $rows::bigint
      )::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)`,
  );
}

/**
 * Returns SQL of the rows that the search of the transaction has found. "offset 0" makes PostgreSQL look them up one by one.
 *
 * @param ids SQL of further ids.
 */
export const foundRows = (table: string, ids = '') => `
  select found.* from (select unnest(current_setting('search.found_ids')::integer[]) as id ${ids}) as ids,
    lateral (select * from ${table} where id = ids.id offset 0) as found`;

/** Returns SQL of the condition that one of the columns contains a term, with the parameter `pattern` of `Search`. */
export const matchesOf = (columns: readonly string[]) =>
  columns.map((column) => `${column} ilike $pattern::text`).join(' or ');

/** Finds rows and shows them, in one round trip. */
export function runSearch<Row>(
  db: Queryable,
  find: BoundStatement<unknown>,
  show: BoundStatement<Row>,
): Promise<Row[]> {
  return db.pipeline([planForTerm(), find], show);
}

const planForTerm = statement<never>('planForTerm', `select set_config('plan_cache_mode', 'force_custom_plan', true)`);
