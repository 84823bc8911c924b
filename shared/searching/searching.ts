// Substring searches that are fast for common and for rare terms, with a prepared plan.
//
// A scan in the listing's order is fastest for a common term: it stops when the page is full. The index is fastest for
// a rare term. The statement first tries the first rows, which fill the page if the term is common among them.
// Otherwise it estimates the term's frequency from these rows and from a sample of the whole table. If filling the page
// by a scan costs less than the index, it scans on, for as long as the index would take at most. It uses the index if
// the scan does not fill the page and rows remain.
//
// Each parameter is in a subselect, which hides it from the planner. Otherwise PostgreSQL would plan each search again,
// which takes as long as the search.

/** How many rows are tried first, per wanted row. */
const triedPerRow = 5;
/** The sample takes this many rows at each of this many places, spread evenly over the ids. */
const samples = 8;
const sampleRows = 16;
/** How many rows are scanned in the time that it takes to read one row found by the index. */
const scannedPerIndexed = 7;
/**
 * The scan covers twice as many rows as it expects to need. It covers more where that is cheap: this many rows per
 * wanted row, or this fraction of the index's time.
 */
const scannedPerRow = 100;
const scannedAgainstIndex = 1 / 8;
const maxScanned = 100_000;
/** The assumed size of a table without an estimate, or with one from when it was empty. */
const unknownRows = 1_000_000;

export interface SearchedTable {
  readonly table: string;
  /** The searched columns. */
  readonly columns: readonly string[];
  /** The expression of the table's `search_grams` index (migration 0002). */
  readonly indexed: string;
  /** The columns of the listing's order, without the final id. */
  readonly placedBy: string;
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
export function searchedIds({ table, columns, indexed, placedBy, order, where }: SearchedTable): string {
  const matches = columns.map((column) => `${column} ilike (select $pattern::text)`).join(' or ');
  const searched = columns.join(', ');
  const rowsToTry = `(select $rows::bigint * ${triedPerRow})`;
  const inOrder = (columns: string) => `select ${columns} from ${table} where ${where} order by ${order}`;
  const foundIn = (rows: string) =>
    `array(select id from (${rows}) as scanned where ${matches} limit (select $rows::bigint))`;
  return `
    with tried as materialized (select ${foundIn(`${inOrder(`id, ${searched}`)} limit ${rowsToTry}`)} as ids),
    sampled as materialized (
      select count(*) as rows, count(*) filter (where ${matches}) as found
      from (select min(id)::bigint as first, max(id)::bigint as last from ${table}) as ids,
        generate_series(0, ${samples - 1}) as nth,
        lateral (
          select ${searched} from ${table}
          where id >= first + (last - first) * (2 * nth + 1) / ${2 * samples} order by id limit ${sampleRows}
        ) as sample
      where cardinality((select ids from tried)) < $rows::bigint
    ),
    estimated as materialized (
      select greatest(
          (cardinality(ids) + found)::double precision / (${rowsToTry} + rows),
          -- If the first rows are atypical: the sample's share, less twice its standard deviation.
          (found - 2 * sqrt(found)) / nullif(rows, 0)
        ) as share,
        (select case when reltuples <= 0 then ${unknownRows} else reltuples end
         from pg_class where oid = '${table}'::regclass) as rows
      from tried, sampled
    ),
    judged as materialized (
      select case when share * share * rows * ${scannedPerIndexed} > $rows::bigint
        then least(
          share * rows * ${scannedPerIndexed},
          greatest(
            2 / share * $rows::bigint,
            ${scannedPerRow} * $rows::bigint,
            share * rows * ${scannedPerIndexed * scannedAgainstIndex}
          ),
          ${maxScanned}
        )::bigint
        else 0
      end as rows_to_scan
      from estimated
    ),
    scanned as materialized (
      select ids || case when cardinality(ids) >= $rows::bigint then '{}' else ${foundIn(
        `${inOrder(`id, ${searched}`)} offset ${rowsToTry} limit (select rows_to_scan from judged)`,
      )} end as ids
      from tried
    ),
    needs_index as materialized (
      select case when cardinality(ids) < $rows::bigint then exists (
        ${inOrder('')} offset (select ${rowsToTry} + rows_to_scan from judged) limit 1
      ) else false end as yes
      from scanned
    ),
    indexed as materialized (
      select id, ${placedBy} from ${table}
      where (select yes from needs_index)
        and search_grams(${indexed}, 1) @> (select search_grams($term, 3)) and (${matches})
    )
    select unnest(ids[1:$rows]) as id from scanned where not (select yes from needs_index)
    union all
    (select id from indexed where ${where} order by ${order} limit (select $rows::bigint))`;
}
