import type { Queryable } from '../../../shared/db/database.ts';
import { type Statement, statement } from '../../../shared/db/statement.ts';
import {
  latestFirst,
  type PageParams,
  type PageRequest,
  type PlacedRow,
  placedAfter,
  readPage,
  toPage,
} from './paging.ts';
import { type Search, type SearchedTable, searchedRows } from './searching.ts';

/** The table of a listing. */
interface ListedTable extends Pick<SearchedTable, 'table' | 'columns' | 'indexed'> {
  /** SQL of the links of a row, where its table has any: one empty row for each, for `page.id`. */
  readonly links?: string;
}

/** A listing that is paged, latest first, and searched: of coupons or of reserved coupons. */
export class Listing<Row extends PlacedRow> {
  readonly #name: string;
  readonly #list: Statement<Row, PageParams>;
  readonly #search: Statement<Row, PageParams & Search>;

  /**
   * @param name ties page tokens to this listing.
   * @param procedure names its statements.
   * @param shown makes the SQL of a page out of the SQL of its rows: they are cut to the page before
   * anything is joined to them. Of the row with `is_beyond`, only the columns of `PlacedRow` count.
   */
  constructor(name: string, procedure: string, { links, ...searched }: ListedTable, shown: (rows: string) => string) {
    this.#name = name;
    const page = (rows: string) => shown(cutToPage(rows, links));
    const found = searchedRows({ ...searched, selected: '*', order: latestFirst, where: placedAfter });
    this.#list = statement(procedure, page(`select * from ${searched.table} where ${placedAfter}`));
    this.#search = statement(`${procedure}BySearch`, page(found));
  }

  /**
   * Reads a page: its rows, and where the next one starts.
   *
   * @throws INVALID_ARGUMENT for a page token that is garbled or comes from another listing or search.
   */
  async read(db: Queryable, request: PageRequest) {
    const page = readPage(this.#name, request);
    const { place, search } = page;
    return toPage(
      page,
      await db.query(search === undefined ? this.#list(place) : this.#search({ ...place, ...search })),
    );
  }
}

/** How many links and product ids the rows of a page may have together. Its first row may have any number. */
const maxLinks = 100_000;

/**
 * SQL of the rows of a page, and of the one after it, which has `is_beyond`. A page ends before its limit
 * where its rows have too many links.
 */
function cutToPage(rows: string, links = 'select where false'): string {
  // A nested loop counts the links in the order of the page, and ends at the limit: "offset 0" keeps the
  // planner from joining in another way. An id takes 4 bytes: the array itself is not read.
  return `
    with page as materialized (
      select *, row_number() over (order by ${latestFirst}) as place
      from (select * from (${rows}) as found order by ${latestFirst} limit $rows::bigint) as cut
    ),
    linked as (
      select place, count(*) as links
      from (
        select place from page, lateral (${links} offset 0) as links limit ${maxLinks} + 1
      ) as counted
      group by place
    ),
    weighed as (
      select *, place = $rows or (place > 1 and ${maxLinks} < sum(
        coalesce(links, 0) + coalesce(pg_column_size(product_ids) / 4, 0)
      ) over (order by place)) as is_beyond
      from page left join linked using (place)
    )
    select * from weighed
    where place <= coalesce((select min(place) from weighed where is_beyond), place)`;
}
