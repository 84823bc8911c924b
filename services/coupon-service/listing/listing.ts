import type { Queryable } from '../../../shared/db/database.ts';
import { type Statement, statement } from '../../../shared/db/statement.ts';
import { type Search, type SearchedTable, searchedIds } from '../../../shared/searching/searching.ts';
import {
  latestFirst,
  micros,
  type PageParams,
  type PageRequest,
  type PlacedRow,
  placedAfter,
  readPage,
  toPage,
} from './paging.ts';

/** The table of a listing. */
interface ListedTable extends Pick<SearchedTable, 'table' | 'columns' | 'indexed'> {
  /** The links of its rows. */
  readonly links?: readonly ListedLinks[];
}

/** Links of listed rows to records of another table. */
interface ListedLinks {
  /** The column of the result that has a row's links, as `Link`s; null without any. */
  readonly column: string;
  /** The table of the links, with their ids, and with those of the listed rows in `owner`. */
  readonly table: string;
  readonly owner: string;
  /** The table that they lead to, by its id in `target`, and SQL of what is shown of its rows. */
  readonly related: string;
  readonly target: string;
  readonly shown: string;
}

/** A link, with what is shown of the record that it leads to. */
export type Link<Shown> = [id: number, shown: Shown];

/** A listing that is paged, latest first, and searched: of coupons or of reserved coupons. */
export class Listing<Row extends PlacedRow> {
  readonly #name: string;
  readonly #list: Statement<Row, PageParams>;
  readonly #search: Statement<Row, PageParams & Search>;

  /**
   * @param name ties page tokens to this listing.
   * @param procedure names its statements.
   * @param shown SQL of the columns that are shown, of the table and of those in `joined`: joins to single records.
   */
  constructor(
    name: string,
    procedure: string,
    { table, columns, indexed, links = [] }: ListedTable,
    shown: { readonly columns: string; readonly joined: string },
  ) {
    this.#name = name;
    const page = (rows: string) => pageOf(table, rows, links, shown);
    const order = { placedBy: 'created_at', order: latestFirst, where: placedAfter };
    const found = searchedIds({ table, columns, indexed, ...order });
    this.#list = statement(
      procedure,
      page(`select * from ${table} where ${placedAfter} order by ${latestFirst} limit (select $rows::bigint)`),
    );
    this.#search = statement(
      `${procedure}BySearch`,
      page(
        `select listed.* from (${found}) as found, lateral (select * from ${table} where id = found.id offset 0) as listed`,
      ),
    );
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
 * SQL of a page, and of the row after it, which has `isNext` and no links. A page ends before its limit
 * where its rows have too many links. `rows` is SQL of its rows.
 */
function pageOf(
  table: string,
  rows: string,
  links: readonly ListedLinks[],
  { columns, joined }: { readonly columns: string; readonly joined: string },
): string {
  // A nested loop reads the links in the order of the page, and ends at the limit. "offset 0" keeps the planner from joining
  // in another way. The links of the first row do not count to the limit.
  const readLinks = (link: ListedLinks) => `
    "links of ${link.column}" as materialized (
      select place, link.id, link.target
      from page, lateral (
        select id, ${link.target} as target from ${link.table} where ${link.owner} = page.id offset 0
      ) as link
      limit (
        select ${maxLinks} + 1 + count(*) from ${link.table} where ${link.owner} = (select id from page where place = 1)
      )
    ),`;
  const joinLinks = ({ column, related, shown }: ListedLinks) => `
    left join (
      select place, json_agg(json_build_array(links.id, ${shown}) order by links.id) as shown
      from "links of ${column}" as links, lateral (select * from ${related} where id = links.target offset 0) as ${related}
      where place < coalesce((select place from beyond), place + 1)
      group by place
    ) as "${column}" using (place)`;
  const places = links.map(({ column }) => `select place from "links of ${column}"`);
  // An id takes 4 bytes: the array of the product ids itself is not read.
  return `
    with page as materialized (
      select *, row_number() over (order by ${latestFirst}) as place from (${rows}) as found
    ),
    ${links.map(readLinks).join('')}
    linked as (
      select place, count(*) as links from (${places.join(' union all ') || 'select 0 as place'}) as all_links group by place
    ),
    weighed as materialized (
      select place, place = $rows or (place > 1 and ${maxLinks} < sum(
        coalesce(links, 0) + coalesce(pg_column_size(product_ids) / 4, 0)
      ) over (order by place)) as is_beyond
      from page left join linked using (place)
    ),
    beyond as materialized (select min(place) as place from weighed where is_beyond)
    select ${columns}, ${links.map(({ column }) => `"${column}".shown as "${column}",`).join(' ')}
      coalesce(place = (select place from beyond), false) as "isNext",
      case when place + 1 = (select place from beyond)
        then ${micros(`${table}.created_at`)}
      end as "createdAtMicros"
    from page as ${table} ${joined} ${links.map(joinLinks).join('')}
    where place <= coalesce((select place from beyond), place)
    order by place`;
}
