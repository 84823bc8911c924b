import { microsOf } from '../../../shared/db/micros.ts';
import { type Queryable, type Statement, statement } from '../../../shared/db/statement.ts';
import {
  findStatement,
  foundRows,
  matchesOf,
  type Search,
  type SearchedTable,
  showFound,
} from '../../../shared/searching/searching.ts';
import {
  type Filters,
  latestFirst,
  type Page,
  type PageParams,
  type PageRequest,
  type PlacedRow,
  placedAfter,
  readPage,
  toPage,
} from './paging.ts';

/** The table of a listing. */
interface ListedTable extends Pick<SearchedTable, 'table' | 'columns' | 'indexed'> {
  /** SQL of the condition of each filter, by the name of its parameter. */
  readonly filters: Readonly<Record<string, string>>;
  /** The links to show with each row. */
  readonly links?: readonly ListedLinks[];
}

/** Links of listed rows to records of another table. */
interface ListedLinks {
  /** The result column with a row's first links as a list of `Link`; null if it has none. */
  readonly column: string;
  /** The table of the links. `owner` is its column with the id of the listed row. */
  readonly table: string;
  readonly owner: string;
  /** The table that the links refer to, by the id in `target`. `shown` is SQL of the shown part of its rows. */
  readonly related: string;
  readonly target: string;
  readonly shown: string;
  /** SQL of the number of a row's links. */
  readonly count: string;
}

/** A link, with the shown part of the record that it refers to; null if that is gone. */
export type Link<Shown> = [id: number, target: number, shown: Shown | null];

/** A listing of coupons or of reserved coupons, all or filtered: paged, searchable, latest first. */
export class Listing<Row extends PlacedRow> {
  readonly #name: string;
  readonly #filters: readonly (readonly [name: string, condition: string])[];
  readonly #list: Statement<Row, PageParams>;
  readonly #find: Statement<unknown, PageParams & Search>;
  readonly #found: Statement<Row, Record<never, never>>;
  readonly #filtered: (filters: Filters) => Statement<Row, PageParams & Filters & { pattern: string }>;

  /**
   * @param name ties page tokens to this listing.
   * @param procedure the name of its statements.
   * @param shown SQL of the shown columns, given SQL of the product ids, and of the joins (`joined`) to
   * single records that they need.
   */
  constructor(
    name: string,
    procedure: string,
    { table, columns, indexed, filters, links = [] }: ListedTable,
    shown: { readonly columns: (productIds: string) => string; readonly joined: string },
  ) {
    this.#name = name;
    this.#filters = Object.entries(filters);
    const page = (rows: string) => pageOf(table, rows, links, shown);
    const order = latestFirst;
    const rowsWhere = (condition: string) =>
      `select * from ${table} where ${condition}${placedAfter} order by ${order} limit $rows::bigint`;
    this.#list = statement(procedure, page(rowsWhere('')));
    this.#filtered = (given) => {
      const asked = this.#filters.filter(([name]) => name in given);
      const conditions = asked.map(([, condition]) => `${condition} and `).join('');
      return statement(
        [procedure, ...asked.map(([name]) => name)].join('-'),
        page(rowsWhere(`${conditions}(${matchesOf(columns)}) and `)),
      );
    };
    this.#find = findStatement(`${procedure}Find`, { table, columns, indexed, order, where: placedAfter });
    this.#found = statement(`${procedure}Found`, page(foundRows(table)));
  }

  /**
   * Reads one page. Resolves with its rows and the place of the next page.
   *
   * @throws INVALID_ARGUMENT for a page token that is corrupted, or belongs to another listing, search or filter.
   */
  async read(db: Queryable, request: PageRequest) {
    const page = readPage(this.#name, request);
    return toPage(page, await this.#rowsOf(db, page));
  }

  #rowsOf(db: Queryable, { place, search, filters }: Page): Promise<Row[]> {
    if (Object.keys(filters).length > 0) {
      return db.query(this.#filtered(filters)({ ...place, ...filters, pattern: search?.pattern ?? '%' }));
    }
    if (search === undefined) return db.query(this.#list(place));
    return showFound(db, this.#find({ ...place, ...search }), this.#found());
  }
}

/** How many links of each kind, and how many product ids, a listing shows per row. `GetById` shows all. */
export const maxShown = 100;

/**
 * Returns SQL of the page whose rows `rows` selects. Each row has its first product ids and links, and
 * the total numbers of both.
 */
function pageOf(
  table: string,
  rows: string,
  links: readonly ListedLinks[],
  { columns, joined }: { readonly columns: (productIds: string) => string; readonly joined: string },
): string {
  // The index of the links begins with owner and target. PostgreSQL therefore reads only the shown links from the
  // table.
  const columnsOf = ({ column, table: linkTable, owner, target, related, shown, count }: ListedLinks) => `
    coalesce(${count}, 0) as "${column}Count",
    (
      select json_agg(
        json_build_array(links.id, links.target, case when ${related}.id is not null then ${shown} end) order by links.id
      )
      from (
        select id, ${target} as target from ${linkTable} where ${owner} = ${table}.id order by ${target} limit ${maxShown}
      ) as links left join lateral (select * from ${related} where id = links.target offset 0) as ${related} on true
    ) as "${column}",`;
  return `
    select ${columns(`${table}.product_ids[:${maxShown}]`)}, ${links.map(columnsOf).join('')}
      coalesce(cardinality(${table}.product_ids), 0) as "productIdsCount",
      ${microsOf(`${table}.created_at`)} as "createdAtMicros"
    from (${rows}) as ${table} ${joined}
    order by "createdAtMicros" desc, id desc`;
}
