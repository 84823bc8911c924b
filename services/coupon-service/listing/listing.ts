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

/** A listing that is paged, latest first, and searched: of coupons or of reserved coupons. */
export class Listing<Row extends PlacedRow> {
  readonly #name: string;
  readonly #list: Statement<Row, PageParams>;
  readonly #search: Statement<Row, PageParams & Search>;

  /**
   * @param name ties page tokens to this listing.
   * @param procedure names its statements.
   * @param page makes the SQL of a page out of the SQL of its rows: they are cut to the page before
   * anything is joined to them.
   */
  constructor(
    name: string,
    procedure: string,
    searched: Pick<SearchedTable, 'table' | 'columns' | 'indexed'>,
    page: (rows: string) => string,
  ) {
    this.#name = name;
    const cut = (rows: string) => page(`${rows} order by ${latestFirst} limit $rows::bigint`);
    const rows = searchedRows({ ...searched, order: latestFirst, where: placedAfter });
    this.#list = statement(procedure, cut(`select * from ${searched.table} where ${placedAfter}`));
    this.#search = statement(`${procedure}BySearch`, cut(`select * from (${rows}) as found`));
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
