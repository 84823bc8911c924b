import { type BoundStatement, type Queryable, statement } from '../db/statement.ts';

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
 * Returns SQL of the ids of the first rows that contain a term, in no particular order. Its parameters are those of
 * `Search`, and `rows`, the number of wanted rows.
 */
export function searchedIds({ table, columns, indexed, order, where }: SearchedTable): string {
  return `
    select id from ${table}
    where search_grams(${indexed}, 1) @> search_grams($term::text, 3) and (${matchesOf(columns)}) and ${where}
    order by ${order} limit $rows::bigint`;
}

/** Returns SQL of the condition that one of the columns contains a term, with the parameter `pattern` of `Search`. */
export const matchesOf = (columns: readonly string[]) =>
  columns.map((column) => `${column} ilike $pattern::text`).join(' or ');

/** Runs a search, which PostgreSQL plans for its term. */
export function runSearch<Row>(db: Queryable, search: BoundStatement<Row>): Promise<Row[]> {
  return db.pipeline([planEach()], search);
}

const planEach = statement<never>('planEach', `select set_config('plan_cache_mode', 'force_custom_plan', true)`);
