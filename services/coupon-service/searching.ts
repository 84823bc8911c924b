/**
 * Substring searches that stay quick whatever is searched for, and on whichever plan.
 *
 * A common term is found soonest by reading the table in the order of the listing until a page is
 * full; a rare one by its index. PostgreSQL can't know which is which in a statement that it
 * prepared, and reads a whole table where it guesses wrong. So both are done, each bounded: some
 * rows are read in the order, and only when they don't fill the page, and are not all there are, the
 * index is asked. By then the term is known to be rare.
 */

/** How many rows are read, before the index is asked, for each one that is wanted. */
const rowsPerRow = 100;

export interface SearchedTable {
  readonly table: string;
  /** The columns that are searched. */
  readonly columns: readonly string[];
  /** The expression of the table's `search_grams` index (migration 0002). */
  readonly indexed: string;
  /** The listing's order, which an index has. */
  readonly order: string;
  /** What else rows have to meet. */
  readonly where: string;
}

/** The parameters of a search, as places of the statement: `$5`. */
export interface SearchPlaces {
  /** The term itself, for the index. */
  readonly term: string;
  /** The term's LIKE pattern. */
  readonly pattern: string;
  /** How many rows are asked for, with those that an offset skips. */
  readonly count: string;
}

/** The LIKE pattern of texts that contain the term. */
export function containing(term: string): string {
  return `%${term.replace(/[\\%_]/g, '\\$&')}%`;
}

/** SQL of the first rows that contain a term, at most `count`, in no order. */
export function searchedRows(search: SearchedTable, { term, pattern, count }: SearchPlaces): string {
  const { table, columns, indexed, order, where } = search;
  const matches = columns.map((column) => `${column} ilike ${pattern}`).join(' or ');
  const firstRows = `${count}::bigint * ${rowsPerRow}`;
  return `
    with first_rows as materialized (
      select * from ${table} where ${where} order by ${order} limit ${firstRows}
    ),
    first_found as materialized (
      select * from first_rows where ${matches} order by ${order} limit ${count}::bigint
    ),
    indexed as materialized (
      select * from ${table}
      where search_grams(${indexed}, 1) @> search_grams(${term}, 3) and (${matches})
    ),
    needs_index as materialized (
      select (select count(*) from first_found) < ${count}::bigint
        and (select count(*) from first_rows) = ${firstRows} as yes
    )
    select * from first_found where not (select yes from needs_index)
    union all
    (
      select * from indexed
      where (select yes from needs_index) and ${where}
      order by ${order}
      limit ${count}::bigint
    )`;
}
