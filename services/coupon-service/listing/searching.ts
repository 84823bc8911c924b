// Substring searches that stay fast for common and for rare terms, with a prepared plan.
//
// A scan in the order of the listing finds a common term soonest: it stops when the page is full. The
// index finds a rare term soonest. A plan that is prepared without the term can't know which it is, and
// reads the whole table when it guesses wrong. So the statement does both, each bounded: it scans some
// rows in order, and asks the index only when they neither fill the page nor are the whole table. By
// then the term is known to be rare.

/** How many rows are scanned before the index is asked: for each row that is wanted, and in all. */
const scannedPerRow = 100;
const maxScanned = 100_000;

export interface SearchedTable {
  readonly table: string;
  /** The columns that are searched. */
  readonly columns: readonly string[];
  /** The columns that are read. Where the index of the order has them all, a scan reads nothing else. */
  readonly selected: string;
  /** The expression of the table's `search_grams` index (migration 0002). */
  readonly indexed: string;
  /** The listing's order, which an index has. */
  readonly order: string;
  /** The listing's other condition. */
  readonly where: string;
}

/** The parameters of a search. */
export interface Search {
  readonly term: string;
  /** The LIKE pattern of texts that contain the term. */
  readonly pattern: string;
}

/** Reads what is searched for; undefined when it is blank. It is not trimmed (design 7). */
export function readSearch(term: string | undefined): Search | undefined {
  return term?.trim() ? { term, pattern: `%${term.replace(/[\\%_]/g, '\\$&')}%` } : undefined;
}

/**
 * SQL of the first rows that contain a term, in no order. Its parameters are those of `Search`, and
 * `rows`: how many rows are wanted.
 */
export function searchedRows({ table, columns, selected, indexed, order, where }: SearchedTable): string {
  const matches = columns.map((column) => `${column} ilike $pattern`).join(' or ');
  const scanned = `least($rows::bigint * ${scannedPerRow}, ${maxScanned})`;
  return `
    with scanned as materialized (
      select ${selected} from ${table} where ${where} order by ${order} limit ${scanned}
    ),
    scanned_found as materialized (
      select * from scanned where ${matches} order by ${order} limit $rows::bigint
    ),
    indexed as materialized (
      select ${selected} from ${table}
      where search_grams(${indexed}, 1) @> search_grams($term, 3) and (${matches})
    ),
    needs_index as materialized (
      select (select count(*) from scanned_found) < $rows::bigint
        and (select count(*) from scanned) = ${scanned} as yes
    )
    select * from scanned_found where not (select yes from needs_index)
    union all
    (
      select * from indexed
      where (select yes from needs_index) and ${where}
      order by ${order}
      limit $rows::bigint
    )`;
}
