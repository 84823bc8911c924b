import { parseId } from '../../../shared/db/int32.ts';
import { statement } from '../../../shared/db/statement.ts';
import type { CatalogService } from '../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import {
  findStatement,
  foundIds,
  foundRows,
  type LookUpPage,
  readLookUp,
  showFound,
} from '../../../shared/searching/searching.ts';
import { byName, type ListedProductRow, productColumns, toProducts } from '../catalog/catalog.ts';
import type { CatalogParts } from '../parts.ts';

/**
 * Design 11, SearchProducts: finds products by a part of their name or by their exact id, ordered by name, then id.
 * Products beyond the first million, and matches beyond the first 1,000, are not shown (design 8). Leaves out retired
 * products unless they are asked for (design 14).
 */
export function searchProducts({ database }: CatalogParts): Handler<typeof CatalogService.method.searchProducts> {
  return async (request, call) => {
    const lookUp = readLookUp(request);
    if (lookUp === undefined) return { products: [] };
    const { page, search } = lookUp;
    const db = database.for(call);
    const { includeRetired } = request;
    if (search === undefined) return { products: toProducts(await db.query(listPage({ ...page, includeRetired }))) };
    const find = findProducts({ ...search, includeRetired, rows: page.limit + page.offset });
    return {
      products: toProducts(await showFound(db, find, foundPage({ ...page, includeRetired, id: parseId(search.term) }))),
    };
  };
}

/**
 * Returns SQL of a page of products. `rows` is SQL of the ids and names to choose from. Images
 * are read for the page only.
 */
const pageOf = (rows: string) =>
  `select ${productColumns}
   from (
     select id from (${rows}) as products
     order by ${byName}
     limit $limit::integer offset $offset::integer
   ) as page, lateral (select * from products where id = page.id offset 0) as products
   order by ${byName}`;

/** Whether retired products are found, too. */
interface Including {
  readonly includeRetired: boolean;
}
const isIncluded = '($includeRetired::boolean or not is_retired)';

const listPage = statement<ListedProductRow, LookUpPage & Including>(
  'searchProducts',
  pageOf(`select id, name from products where ${isIncluded}`),
);

const findProducts = findStatement<Including>('findProducts', {
  table: 'products',
  columns: ['name'],
  indexed: 'name',
  order: 'name collate "und-x-icu", id',
  where: isIncluded,
});
// The first rows of the union are among the first rows by name and the row by id.
const foundPage = statement<
  ListedProductRow,
  LookUpPage &
    Including & {
      /** The id that the term names; undefined if the term is not an id. */
      id: number | undefined;
    }
>(
  'foundProducts',
  pageOf(
    `select * from (${foundRows('products', `(select id from ${foundIds} union select $id::integer) as ids`)}) as found where ${isIncluded}`,
  ),
);
