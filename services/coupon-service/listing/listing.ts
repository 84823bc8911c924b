import { microsOf } from '../../../shared/db/micros.ts';
import { type Queryable, type Statement, statement } from '../../../shared/db/statement.ts';
import {
  countFound,
  found,
  foundRows,
  hasTerm,
  matchesOf,
  type SearchedTable,
  showFound,
  totalOf,
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
  /** SQL of the condition of each filter, by the name of its parameter. Few rows match. */
  readonly filters: Readonly<Record<string, string>>;
  /** The same of filters that many rows may match. */
  readonly wideFilters?: Readonly<Record<string, string>>;
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

/** What the rows of a page match. */
type Matched = Pick<Page, 'filters' | 'search'>;

/** A listing of coupons or of reserved coupons, all or filtered: paged, searchable, latest first. */
export class Listing<Row extends PlacedRow> {
  readonly #name: string;
  readonly #procedure: string;
  readonly #table: ListedTable;
  /** Returns SQL of a page, of the rows that SQL selects. */
  readonly #pageOf: (rows: string) => string;
  readonly #found: Statement<Row, Record<never, never>>;
  readonly #declared = new Map<string, Statement<Row, PageParams>>();

  /**
   * @param name ties page tokens to this listing.
   * @param procedure the name of its statements.
   * @param shown SQL of the shown columns, given SQL of the product ids, and of the joins (`joined`) to
   * single records that they need.
   */
  constructor(
    name: string,
    procedure: string,
    table: ListedTable,
    shown: { readonly columns: (productIds: string) => string; readonly joined: string },
  ) {
    this.#name = name;
    this.#procedure = procedure;
    this.#table = table;
    this.#pageOf = (rows) => pageOf(table.table, rows, table.links ?? [], shown);
    this.#found = statement(`${procedure}Found`, this.#pageOf(foundRows(table.table)));
    for (const search of [undefined, { term: '', pattern: '' }]) this.#select({ filters: {}, search });
  }

  /**
   * Reads one page. Resolves with its rows, the place of the next page and, if asked for, the total.
   *
   * @throws INVALID_ARGUMENT for a page token that is corrupted, or belongs to another listing, search or filter.
   */
  async read(db: Queryable, request: PageRequest) {
    const page = readPage(this.#name, request);
    const [rows, total] = await Promise.all([
      this.#rowsOf(db, page),
      request.withTotal ? countFound(db, this.#count(page)) : undefined,
    ]);
    return { ...toPage(page, rows), total };
  }

  #rowsOf(db: Queryable, page: Page): Promise<Row[]> {
    const { select, isSearched } = this.#select(page);
    const bound = select({ ...page.place, ...page.filters, ...page.search });
    return isSearched ? showFound(db, bound, this.#found()) : db.query(bound);
  }

  /** Returns the statement that reads a page, or finds its rows: one for each set of filters. */
  #select(page: Matched) {
    const { table } = this.#table;
    const { conditions, name, isSearched } = this.#matching(page);
    const where = [...conditions, placedAfter].join(' and ');
    const rows = (columns: string) =>
      `select ${columns} from ${table} where ${where} order by ${latestFirst} limit $rows::bigint`;
    const select =
      this.#declared.get(name) ?? statement(name, isSearched ? found(rows('id')) : this.#pageOf(rows('*')));
    this.#declared.set(name, select);
    return { select, isSearched };
  }

  #count(page: Page) {
    const { conditions } = this.#matching(page);
    const rows = `select from ${this.#table.table} where ${['true', ...conditions].join(' and ')}`;
    return statement<{ total: number }, Filters>('', totalOf(rows))({ ...page.filters, ...page.search });
  }

  /**
   * Returns SQL of the conditions on the rows that match a page's filters and search, and the name of its statement.
   * Where the filters leave few rows, these are looked through; else the search finds them.
   */
  #matching({ filters, search }: Matched) {
    const { filters: few, wideFilters = {} } = this.#table;
    const given = Object.entries({ ...few, ...wideFilters }).filter(([name]) => name in filters);
    const isSearched = search !== undefined && !given.some(([name]) => name in few);
    const searched = isSearched ? hasTerm(this.#table) : `(${matchesOf(this.#table.columns)})`;
    const words = [...given.map(([name]) => name), ...(search === undefined || isSearched ? [] : ['search'])];
    return {
      conditions: [...given.map(([, condition]) => condition), ...(search === undefined ? [] : [searched])],
      name: [isSearched ? `${this.#procedure}Find` : this.#procedure, ...words].join('-'),
      isSearched,
    };
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
