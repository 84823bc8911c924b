// Substring searches that stay fast for common and for rare terms, with a prepared plan.
//
// A scan in the order of the listing finds a common term soonest: it stops when the page is full. The
// index finds a rare term soonest. So the statement scans the first rows, which fill the page when the
// term is common. Else it judges by what it has found in them how often the term occurs, and does what
// is cheaper: it scans on, or asks the index. If the scan goes on in vain, it asks the index, too.
//
// The planner must not see the parameters, or it plans each search anew, which takes as long as the
// search: each stands in a select of its own.

/** How many rows are scanned first, for each row that is wanted. */
const triedPerRow = 10;
/** How many more are scanned at most: twice as many as it should take, and never more than these. */
const maxScanned = 100_000;
/** How many rows are scanned in the time that it takes to read one row that the index has found. */
const scannedPerIndexed = 7;

export interface SearchedTable {
  readonly table: string;
  /** The columns that are searched. */
  readonly columns: readonly string[];
  /** The expression of the table's `search_grams` index (migration 0002). */
  readonly indexed: string;
  /** The columns of the listing's order, without the id that comes last in it. */
  readonly placedBy: string;
  /** The listing's order, whose index has the searched columns: a scan reads nothing else. */
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
 * SQL of the ids of the first rows that contain a term, in no order. Its parameters are those of `Search`,
 * and `rows`: how many rows are wanted.
 */
export function searchedIds({ table, columns, indexed, placedBy, order, where }: SearchedTable): string {
  const matches = columns.map((column) => `${column} ilike (select $pattern::text)`).join(' or ');
  const rowsToTry = `(select $rows::bigint * ${triedPerRow})`;
  const inOrder = `select id, ${columns.join(', ')} from ${table} where ${where} order by ${order}`;
  const foundIn = (rows: string) =>
    `array(select id from (${rows}) as scanned where ${matches} limit (select $rows::bigint))`;
  // With k of n tried rows found, it takes rows * n / k more to fill the page, and the index finds k / n of all rows.
  return `
    with tried as materialized (
      select ids, ${rowsToTry} as rows, cardinality(ids) as found, cardinality(ids) >= $rows::bigint as is_full
      from (select ${foundIn(`${inOrder} limit ${rowsToTry}`)} as ids) as tried
    ),
    judged as materialized (
      select case when found::double precision ^ 2 * ${scannedPerIndexed}
          * (select reltuples from pg_class where oid = '${table}'::regclass) > $rows::bigint * rows::double precision ^ 2
        then least(2 * $rows::bigint * rows / found, ${maxScanned})
        else 0
      end as rows_to_scan
      from tried
    ),
    scanned as materialized (
      select ids || case when is_full then '{}' else ${foundIn(
        `${inOrder} offset ${rowsToTry} limit (select rows_to_scan from judged)`,
      )} end as ids
      from tried
    ),
    needs_index as materialized (select cardinality(ids) < $rows::bigint as yes from scanned),
    indexed as materialized (
      select id, ${placedBy} from ${table}
      where (select yes from needs_index)
        and search_grams(${indexed}, 1) @> (select search_grams($term, 3)) and (${matches})
    )
    select unnest(ids[1:$rows]) as id from scanned where not (select yes from needs_index)
    union all
    (select id from indexed where ${where} order by ${order} limit (select $rows::bigint))`;
}
