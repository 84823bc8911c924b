// Substring searches that stay fast for common and for rare terms, with a prepared plan.
//
// A scan in the order of the listing finds a common term soonest: it stops when the page is full. The
// index finds a rare term soonest. So the statement tries the first rows, which fill the page when the
// term is common among them. Else it estimates how often the term occurs, from these and from a sample
// of the whole table. If to fill the page costs less than the index, it scans on: at most for as long as
// the index would have taken. It asks the index when that was in vain and there are more rows.
//
// The planner must not see the parameters, or it plans each search anew, which takes as long as the
// search: each stands in a select of its own.

/** How many rows are tried first, for each row that is wanted. */
const triedPerRow = 10;
/** The sample: so many rows from each of so many places, spread over the ids. */
const samples = 8;
const sampleRows = 16;
/** How many rows are scanned in the time that it takes to read one row that the index has found. */
const scannedPerIndexed = 7;
/**
 * The scan goes on for twice as many rows as should fill the page. It goes on for longer where that costs little: for so many
 * rows for each wanted one, and for this part of the time that the index would take.
 */
const scannedPerRow = 100;
const scannedAgainstIndex = 1 / 8;
const maxScanned = 100_000;
/** The rows of a table that PostgreSQL has no estimate of, or has seen only when it was empty. */
const unknownRows = 1_000_000;

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
          -- Where the first rows are unlike the others: what the sample finds, less twice its standard deviation.
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
