import { type BoundStatement, onlyRow, type Queryable, type Statement, statement } from '../db/statement.ts';

// Lists that few or many rows may match, such as substring searches. A scan in the listing's order is fastest where
// many match: it stops when the page is full. An index is fastest where few do. PostgreSQL knows how common a value is.
// So a first statement, which is planned for its values, finds the ids of the page, and a second one shows their rows.
// To plan the second one each time would take longer than to run it.

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

/** Returns SQL that finds rows for the second statement. `ids` is SQL of their ids in order. */
export const found = (ids: string) => `
  select set_config('found.ids', array(${ids})::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)`;

/** SQL of the ids that were found, with their places from 1. */
export const foundIds = `unnest(current_setting('found.ids')::integer[]) with ordinality as ids (id, place)`;

/** Returns SQL of the rows that were found. "offset 0" makes PostgreSQL look them up one by one. */
export const foundRows = (table: string, ids = foundIds) =>
  `select shown.* from ${ids}, lateral (select * from ${table} where id = ids.id offset 0) as shown`;

/** Declares a statement that finds the first rows that contain a term. `rows` is their number. */
export function findStatement<Params extends object>(
  name: string,
  { table, columns, indexed, order, where }: SearchedTable,
): Statement<unknown, Params & Search & { rows: number }> {
  return statement(
    name,
    found(`
      select id from ${table}
      where ${hasTerm({ columns, indexed })} and ${where}
      order by ${order} limit $rows::bigint`),
  );
}

/** Returns SQL of the condition that a row is found by a search, with the parameters of `Search`. */
export const hasTerm = ({ columns, indexed }: Pick<SearchedTable, 'columns' | 'indexed'>) =>
  `search_grams(${indexed}, 1) @> search_grams($term::text, 3) and (${matchesOf(columns)})`;

/** Returns SQL of the condition that one of the columns contains a term, with the parameter `pattern` of `Search`. */
export const matchesOf = (columns: readonly string[]) =>
  columns.map((column) => `${column} ilike $pattern::text`).join(' or ');

/** Finds rows and shows them as they were at one moment, in one round trip. */
export function showFound<Row>(
  db: Queryable,
  find: BoundStatement<unknown>,
  show: BoundStatement<Row>,
): Promise<Row[]> {
  return db.pipeline([atOneMoment(), planForValues(), find], show);
}

const atOneMoment = statement<never>('atOneMoment', 'set transaction isolation level repeatable read');

/** A total counts no more rows than one more than this (design 17). */
const maxTotal = 10_000;

/** Returns SQL that counts rows up to a limit. `rows` is SQL of them, by which it is planned. */
export const totalOf = (rows: string) =>
  `select count(*)::integer as total from (select from (${rows}) as matching limit ${maxTotal + 1}) as counted`;

/** Counts the rows that match filters, with a statement of `totalOf`. */
export async function countFound(db: Queryable, count: BoundStatement<{ total: number }>): Promise<number> {
  return onlyRow(await db.pipeline([planForValues()], count)).total;
}

const planForValues = statement<never>(
  'planForValues',
  `select set_config('plan_cache_mode', 'force_custom_plan', true)`,
);

const defaultLimit = 20;
// Skipped rows take time too.
const maxListed = 1_000_000;
const maxFound = 1_000;

/** The request of a look-up, with bounds declared in `proto/`. */
interface LookUpRequest {
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** The limit and offset of a page. */
export interface LookUpPage {
  readonly limit: number;
  readonly offset: number;
}

/** A page to read, either of a search's matches or of all rows. */
interface LookUp {
  readonly search: Search | undefined;
  readonly page: LookUpPage;
}

/**
 * Validates the request of a look-up. Rows beyond the first million, and matches beyond the first 1,000 of a search,
 * are not shown (design 8).
 *
 * @returns undefined for a page without any rows to show.
 */
export function readLookUp({ search: term, limit = defaultLimit, offset = 0 }: LookUpRequest): LookUp | undefined {
  const search = readSearch(term);
  const shown = Math.min(limit, (search === undefined ? maxListed : maxFound) - offset);
  return shown > 0 ? { search, page: { limit: shown, offset } } : undefined;
}
